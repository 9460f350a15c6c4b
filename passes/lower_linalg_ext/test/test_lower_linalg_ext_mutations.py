# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `lower_linalg_ext` find bugs in how tiles are loaded, stored and padded."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

memory = partial(mutants.Mutation, "Memory.cpp")
structured = partial(mutants.Mutation, "Structured.cpp")
driver = partial(mutants.Mutation, "LowerLinalgExt.cpp")

READ = "copy.getInputs()[0].getDefiningOp<bufferization::ToTensorOp>()"
ZEROS = "SmallVector<OpFoldResult>(sizes.size(), rewriter.getIndexAttr(0))"

BUGS = {
    "a store of lines stays": memory("!view.areTrailingDimsContiguous(view.getRank())", "false"),
    "a store of one line becomes a loop": memory("!view.areTrailingDimsContiguous(view.getRank())", "true", behind=" "),
    "a part with gaps is part of the buffer": memory("!part.hasUnitStride()", "false"),
    "a part of fewer dimensions is part of the buffer": memory("part.getSourceType().getRank() != rank", "false"),
    "a part is a tensor of its own": memory("part ? part.getSource() : op.getSource()", "op.getSource()"),
    "a part begins where its tensor does": memory(
        "part.getMixedOffsets()", "SmallVector<OpFoldResult>(rank, rewriter.getIndexAttr(0))"
    ),
    "the buffer of a store may be written": memory("true", "false", behind="tensor, /*read_only=*/"),
    "a load does not copy": memory(
        "copy", "read.getBuffer()", behind="replaceOpWithNewOp<bufferization::ToTensorOp>(\n"
    ),
    "a copy into anything is a load": driver(
        f"{READ} &&\n         copy.getOutputs()[0].getDefiningOp<tensor::EmptyOp>()", f"bool({READ})"
    ),
    "the padding is 0": structured(
        "op.getPvalue()",
        "arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(op.getPvalue().getType())).getResult()",
    ),
    "the body of a pad does nothing": structured("yield.getOperand(0) == body.getArgument(0)", "true"),
    "a line is padded by a loop": structured("sizes.size() > 1", "true"),
    "a tile is padded by a call": structured("sizes.size() > 1", "false", behind="copies element by\n"),
    "a tile is copied to the beginning of its padding": structured(
        "op.getMixedLow()", ZEROS, behind="Value place = tensor::ExtractSliceOp::create("
    ),
    "a tile is inserted at the beginning of its padding": structured(
        "op.getMixedLow()", ZEROS, behind="replaceOpWithNewOp<tensor::InsertSliceOp>("
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/lower_linalg_ext", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/lower_linalg_ext", libraries, bug) == (not bug)
