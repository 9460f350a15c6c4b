# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `triton_to_ptr` find bugs of it. test/linalg/test_memref_pointers.py executes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "TritonToPtr.cpp")
tensors = partial(mutants.Mutation, "Tensors.cpp")

BUGS = {
    "offsets count bytes": bug("pointee", "Type(rewriter.getI8Type())", behind="rewriter, loc, i64, "),
    "a masked load gives 0 in place of its other value": bug("!other", "true"),
    "a volatile load is like any other": bug("op.getIsVolatile()", "false"),
    "no element is masked": tensors("elements[1]", "Value()", behind="access.load("),
    "no stored element is masked": tensors("elements[2]", "Value()", behind="Access::store("),
    "tensors have no addresses": tensors("!isTensorOfPointers(values[0].getType())", "true"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/triton_to_ptr", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/triton_to_ptr", libraries, bug) == (not bug)
