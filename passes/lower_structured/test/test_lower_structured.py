# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `lower_structured` find bugs of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import mutants

BUGS = {
    "a block wraps around": mutants.Mutation("LowerStructured.cpp", "op.getOrder().empty()", "true"),
    "no modulus is 0": mutants.Mutation("LowerStructured.cpp", "!getConstantIntValue(bound)", "false"),
    "the mask of the pointers is lost": mutants.Mutation(
        "LowerStructured.cpp", "gather ? gather.getGatherScatterMask() : Value()", "Value()"
    ),
    "a cache policy is lost": mutants.Mutation(
        "LowerStructured.cpp", "op.getCachePolicyAttr()", "Attribute()", behind="load.setCachePolicyAttr("
    ),
    "the last element is masked": mutants.Mutation("LowerStructured.cpp", "*number >= size", "*number > size"),
    "the difference is turned around": mutants.Mutation(
        "IndexValues.cpp", "ValueRange({lhs, rhs})", "ValueRange({rhs, lhs})"
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/lower_structured", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/lower_structured", libraries, bug) == (not bug)
