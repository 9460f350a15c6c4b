# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `collapse_shape` find bugs of it; test/linalg/test_collapsed_shapes.py executes what it makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "CollapseShape.cpp")

BUGS = {
    "elements lose their numbers": bug("!op.hasIndexSemantics()", "true"),
    "added dimensions merge with others": bug("is[dim] == is[dim - 1]", "true"),
    "any neighbours merge in a transpose": bug("permutation[dim] == permutation[dim - 1] + 1", "true"),
    "nothing is permuted": bug("first(a) < first(b)", "a < b"),
    "encodings are lost": bug("tensor.getEncoding()", "Attribute()"),
    "unknown sizes are collapsed": bug("!tensor.hasStaticShape()", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/collapse_shape", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/collapse_shape", libraries, bug) == (not bug)
