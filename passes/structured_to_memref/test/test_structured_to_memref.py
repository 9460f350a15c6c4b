# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `structured_to_memref` find bugs of it; test/linalg executes what it makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "StructuredToMemref.cpp")

BUGS = {
    "a block wraps around": bug("op.wrapsAround()", "true"),
    "what wraps around counts twice": bug("stride = offsets[dim] = math.number(0)", "stride = math.number(0)"),
    "a bound may be above the size": bug("math.min(maskDims[dim], size)", "maskDims[dim]"),
    "a box begins before the tensor": bug("math.max(maskDims[rank + dim], math.number(0))", "maskDims[rank + dim]"),
    "a box ends before it begins": bug("math.max(end, low)", "end"),
    "a cache policy is lost": bug("access.cacheModeOf(known)", "StringAttr()"),
    "the mask of the pointers is a bound": bug("hasMask && dim == gather.getGatherScatterDim()", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/structured_to_memref", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/structured_to_memref", libraries, bug) == (not bug)
