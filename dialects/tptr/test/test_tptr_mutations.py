# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `tptr` find bugs of it. test/linalg/test_ptr_operations.py executes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

ops = partial(mutants.Mutation, "Tptr.cpp")
old = partial(mutants.Mutation, "Old.cpp")

BUGS = {
    "half an address is one": ops("bitsOf(getArg().getType()) >= ours::kBits", "true"),
    "an address has all bits of a number": ops("bitsOf(type) <= ours::kBits", "true"),
    "a pointer of any space is restored": ops("from.getArg().getType() == getRes().getType()", "true"),
    "a memref lies in any space": ops("like.getMemorySpace() == getPtr().getType().getMemorySpace()", "true"),
    "a memref begins without its offset": old("known != 0", "false"),
    "an offset counts bytes": old(
        "type.getElementType()", "Type(rewriter.getI8Type())", behind="rewriter.getIndexType(), "
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the dialect with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("dialects/tptr", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("dialects/tptr", libraries, bug) == (not bug)
