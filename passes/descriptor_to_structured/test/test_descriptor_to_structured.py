# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `descriptor_to_structured` find bugs of it; test/linalg executes what it makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "BlockAccess.cpp")
in_pass = partial(mutants.Mutation, "DescriptorToStructured.cpp")

BUGS = {
    "no index is negative": bug("!analysis::IntegerFacts().limit(index)", "false"),
    "every index is negative": bug("!analysis::IntegerFacts().limit(index)", "true"),
    "what lies outside is 0": bug("arith::SelectOp::create(builder, loc, padsNaN, nan, zero)", "zero"),
    "an offset counts elements of the tensor": bug(
        "math.mul(math.fromInteger(index), steps.back())", "math.fromInteger(index)"
    ),
    "rows have the stride of columns": bug("math.fromInteger(strides[0])", "math.fromInteger(strides[1])"),
    "all rows exist": bug("compare(arith::CmpIPredicate::slt, count)", "compare(arith::CmpIPredicate::sge, zeros)"),
    "floats are not rounded": bug("type.getElementType().isF32()", "false"),
    "a cache policy is lost": in_pass("op.getCachePolicyAttr()", "Attribute()"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/descriptor_to_structured", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/descriptor_to_structured", libraries, bug) == (not bug)
