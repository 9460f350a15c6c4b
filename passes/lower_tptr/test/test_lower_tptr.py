# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `lower_tptr` find bugs of it. test/linalg/test_memref_pointers.py executes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "LowerTptr.cpp")

BUGS = {
    "short addresses have a sign": bug("false", "true", behind="rewriter.getI64Type(), /*isSigned=*/"),
    "offsets have none": bug("true", "false", behind="getOffset(),"),
    "a memref has no offset": bug("known != 0", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/lower_tptr", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/lower_tptr", libraries, bug) == (not bug)
