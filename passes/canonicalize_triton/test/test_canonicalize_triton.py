# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `canonicalize_triton` find bugs in how it separates masks; test/linalg executes the results."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "MixedMasks.cpp")

BUGS = {
    "any access shows what can be read": bug("isWider", "true", behind="load->isBeforeInBlock"),
    "accesses of all branches are executed": bug("dominance.properlyDominates(user, load)", "true"),
    "an assertion goes on": bug("!isPure(op)", "false"),
    "a gather has a box": bug("!analysis::trackPointers(load.getPtr(), math)", "false"),
    "masks that are boxes count as others, too": bug("rest.empty()", "masks.empty()"),
    "everything is speculated": bug("speculate", "true", behind="bounds.empty()"),
    "the first mask is all": bug("arith::AndIOp::create(builder, loc, result, mask)", "mask"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/canonicalize_triton", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/canonicalize_triton", libraries, bug) == (not bug)
