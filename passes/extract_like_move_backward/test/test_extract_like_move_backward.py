# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `extract_like_move_backward` find bugs of it; test/linalg executes what it makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "Slices.cpp")

BUGS = {
    "a slice of a transpose is not transposed": bug("permuted.strides[from] = part.strides[to]", "part.strides[to]"),
    "a range starts where the whole one does": bug("add(range.getStart(), part.offsets[0])", "range.getStart()"),
    "a range may have steps": bug("!isConstantIntValue(part.strides[0], 1)", "false"),
    "long dimensions are reshaped": bug("found >= 0", "false"),
    "a dropped dimension stays": bug("dropped.none()", "true"),
    "a broadcast takes its input whole": bug("part.offsets[dim]", "OpFoldResult(builder.getIndexAttr(0))"),
    "an output that is read is no input": mutants.Mutation("Carried.cpp", "output.use_empty()", "true"),
    "a tensor with other users is carried": mutants.Mutation("Carried.cpp", "use.getOwner() != op", "false"),
    "any user of a carried tensor will do": mutants.Mutation("Carried.cpp", "!isElementwise(user)", "false"),
    "the carried tensor stays": mutants.Mutation("Carried.cpp", "isNeeded(tensor, /*op=*/nullptr, released)", "true"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/extract_like_move_backward", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/extract_like_move_backward", libraries, bug) == (not bug)
