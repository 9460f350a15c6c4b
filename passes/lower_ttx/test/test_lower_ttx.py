# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `lower_ttx` find bugs of it; test/linalg/test_ttx.py executes what it makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "LowerTtx.cpp")

BUGS = {
    "all sums go forward": bug("op.getReverse()", "false"),
    "all sums are along the first dimension": bug("int64_t(op.getAxis())", "0"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/lower_ttx", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/lower_ttx", libraries, bug) == (not bug)
