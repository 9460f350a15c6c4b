# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `linalg_ext`, `tile_linalg` and `lower_linalg_ext` find bugs of what linalg and its tiling ask."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

structure = partial(mutants.Mutation, "Structure.cpp")
parts = partial(mutants.Mutation, "TilingParts.cpp")
fusion = partial(mutants.Mutation, "TilingFusion.cpp")

BUGS = {
    "windows are next to each other": structure("index * dim.stride", "index"),
    "windows have no gaps": structure(
        "getAffineDimExpr(dim.inner, context) * dim.dilation", "getAffineDimExpr(dim.inner, context)"
    ),
    "of equal values the last one wins": structure(
        "arith::CmpIPredicate::slt", "arith::CmpIPredicate::sgt", behind="isLeft = "
    ),
    "a range starts at its end": structure(
        "arith::AddIOp::create(b, start, step)", "arith::AddIOp::create(b, step, step)"
    ),
    "the neutral element of a sum is 0.0": parts("APFloat::getZero(semantics, true)", "APFloat::getZero(semantics)"),
    "the neutral index is the first": parts("isMax && !isIndex", "isMax"),
    "argmax of floats is done in parts": parts("!isa<FloatType>(value)", "true"),
    "reduced loops stay reductions": parts("utils::IteratorType::parallel", "utils::IteratorType::reduction"),
    "users get a part of a sum": fusion("plan.loops[dim.loop] != utils::IteratorType::parallel", "false"),
    "a part of a flip is at the same place": fusion("dim.kind == TiledDim::Loop", "true"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the dialect with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("dialects/linalg_ext", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    of = ["dialects/linalg_ext", "passes/tile_linalg", "passes/lower_linalg_ext"]
    assert mutants.lit_passes(of, libraries, bug) == (not bug)
