# SPDX-License-Identifier: Apache-2.0
"""Kernels compute the same on the CPU by way of `tts` and without it; the tests find bugs of both passes."""

from __future__ import annotations

import random
import re
import shutil
from functools import partial
from pathlib import Path

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support import ROOT, mutants, pointer_shapes

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver

BACK = tx.Pipeline().at_end(
    "ttir",
    tx.passes.ttir.scalarize_induction(),
    tx.builtin.common.canonicalizer(),
    tx.passes.ttir.carry_strides(),
    tx.builtin.common.canonicalizer(),
    tx.passes.ttir.triton_to_structured(),
    tx.passes.ttir.lower_structured(),
    tx.builtin.common.canonicalizer(),
)


@triton.jit
def tiles(  # noqa: PLR0917
    x, out, counter, rows, columns, row_stride, column_stride, step, turns, flip, M: tl.constexpr, N: tl.constexpr
):
    """Sums tiles that a loop walks over, and stores the sum transposed."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    start = x
    if flip > 0:
        start = x + 7
    p = start + i[:, None] * row_stride + j[None, :] * column_stride
    total = tl.zeros((M, N), tl.int32)
    for turn in range(turns):
        mask = (i[:, None] < rows) & (j[None, :] + turn < columns)
        total = total * 3 + tl.load(p, mask, other=-5)
        p += step
    total += tl.load(x + 500 - i * 2)[:, None]
    old = tl.atomic_add(counter + j, j, mask=j < columns)
    total += tl.where(j < columns, old, 0)[None, :]
    tl.store(out + i[None, :] + j[:, None] * M, tl.trans(total), mask=j[:, None] < columns)


def run(pipeline: tx.Pipeline, seed: int) -> tuple[torch.Tensor, torch.Tensor, str]:
    """Returns what the kernel wrote for the arguments that `seed` makes, and its IR."""
    draw = random.Random(seed)
    rows, columns = draw.choice([(4, 8), (8, 4), (2, 16)])
    x = torch.randint(-1000, 1000, (2048,), dtype=torch.int32, generator=torch.Generator().manual_seed(seed))
    out, counter = torch.full((rows * columns,), 9, dtype=torch.int32), torch.arange(columns, dtype=torch.int32)
    strides = draw.choice([(columns, 1), (1, rows), (0, 1), (-3, 2), (17, 0), (-1, -9)])
    with pipeline:
        compiled = tiles[(1,)](
            x[1000:],
            out,
            counter,
            draw.randint(-1, rows + 2),
            draw.randint(-1, columns + 2),
            *strides,
            draw.randint(-3, 5),
            draw.randint(0, 5),
            draw.randint(0, 1),
            M=rows,
            N=columns,
        )
    return out, counter, compiled.asm["ttir"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_it_computes_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    out, counter, before = run(tx.Pipeline(), seed)
    other_out, other_counter, after = run(BACK, seed)
    assert torch.equal(out, other_out)
    assert torch.equal(counter, other_counter)
    # The bounds of the masks have 32 bits before, and 64 after the way through tts.
    assert not re.search(r"cmpi slt, .*xi64>", before)
    assert re.search(r"cmpi slt, .*xi64>", after)
    assert "tts." not in after


@pytest.mark.slow
def test_random_shapes_compute_what_the_interpreter_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of `pointer_shapes`; by hand, 650 of them have been compared."""
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    pointer_shapes.assert_as_interpreted(BACK, 60, tmp_path / "expected.pt")


access = partial(mutants.Mutation, "StructuredAccess.cpp")
terms = partial(mutants.Mutation, "OffsetMath.cpp")
lines = partial(mutants.Mutation, "LineTracker.cpp")
rows = partial(mutants.Mutation, "RowTracker.cpp")

BUGS = {
    "volatile": mutants.Mutation("TritonToStructured.cpp", "op.getIsVolatile()", "false"),
    "any default": mutants.Mutation("TritonToStructured.cpp", "(op.getOther() && !isSplat(op.getOther()))", "false"),
    "a mask of pointers has no default": mutants.Mutation(
        "TritonToStructured.cpp", "access->isMasked()", "!access->maskDims.empty()"
    ),
    "the prepass always runs": mutants.Mutation("TritonToStructured.cpp", "!skipPrepass || runPrepassOnly", "true"),
    "a cache policy is lost": mutants.Mutation(
        "TritonToStructured.cpp", "op.getCachePolicyAttr()", "Attribute()", behind="other,"
    ),
    "bounds are never clamped": access("forms.clampsBounds", "false"),
    "the low bound of a box is lost": access("beginsAtZero(*box)", "true"),
    "a low bound is a mask although it should not": access("(isBox && !forms.lowBounds)", "false"),
    "a store to one address": access("isStore && overlaps(strides, shape)", "false", behind="Maker::makeStrided"),
    "no mask": access("!isWhole(*box, type.getShape())", "false"),
    "a dimension wraps twice": access("wraps[term.dim] || !isZero(strides[term.dim])", "false"),
    "what is added later wraps around": access("llvm::find(wraps, false)", "wraps.begin()"),
    "a modulus is negative": access("*number < 0", "false", behind="term.modulus);"),
    "a bound where the pointers have a mask": access("isConstantIntValue(box.high[*dim], shape[*dim])", "true"),
    "any factor is a stride": rows("!factor || factor->dim", "!factor"),
    "a factor is lost": rows("math.fromInteger(factor->value)", "math.number(1)"),
    "rows with offsets of their own have no stride": rows(
        "addMultiples(line->value, strided.strides[*dim], math)", "line->value"
    ),
    "sums of offsets have 32 bits": rows("bits == 32 && tensors.size() > 1", "false"),
    "a difference keeps the sign": terms("math.sub(zero, term.stride)", "term.stride"),
    "the modulus is not scaled": terms("math.mul(term.modulus, factor)", "term.modulus"),
    "a tile in one run has several": access("tracked->offsets.wrapsAround() && strides", "false"),
    "the first element does not wrap": access("math.rem(term.offset, term.modulus)", "term.offset"),
    "by 0": mutants.Mutation("IndexMath.cpp", "choose(isZero, number(1), b)", "b"),
    "the remainder by 0 is undefined": mutants.Mutation("IndexMath.cpp", "choose(isZero, a, result)", "result"),
    "a hash does not wrap": terms("distance >= -mostDistance && distance <= mostDistance", "true"),
    "a remainder of a remainder": terms("offsets.wrapsAround() || shape.empty()", "shape.empty()"),
    "both arms wrap around": terms("math.choose(condition, a->modulus, b->modulus)", "a->modulus"),
    "a dimension keeps its number": terms("dim < expand.getAxis() ? dim : dim + 1", "dim"),
    "no number is negative": mutants.Mutation("OffsetTracker.cpp", "isa<arith::RemUIOp>(remainder)", "false"),
    "the dividend never wraps": mutants.Mutation("OffsetTracker.cpp", "neverWraps(remainder.getLhs(), math)", "true"),
    "a sum or product without flags never wraps": mutants.Mutation(
        "OffsetTracker.cpp", "!bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw)", "false"
    ),
    "an operation without a rule never wraps": mutants.Mutation(
        "OffsetTracker.cpp", "!isa<arith::ExtSIOp>(op)", "false"
    ),
    "the operands of a sum are not looked at": mutants.Mutation(
        "OffsetTracker.cpp", "neverWraps(operand, math)", "true"
    ),
    "lines along two dimensions": lines("dim && line->dim && dim != line->dim", "false"),
    "one element is a line": lines("shapeOf(operand)[*line->dim] != type.getDimSize(*dim)", "false"),
    "what a branch divides is divided anyway": mutants.Mutation("IndexMath.cpp", "!isPure(op)", "false"),
    "half of a mask is lost": mutants.Mutation("MaskSplit.cpp", "rhs.rest", "lhs.rest"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass and its analysis with all bugs in them and returns the directory of its libraries.

    The bugs are in the analysis, too: its sources become part of the pass, so that it takes nothing from their library.
    """
    scratch = tmp_path_factory.mktemp("bugs")
    source = mutants.copy_source("passes/triton_to_structured", scratch)
    copies = [Path(shutil.copy(file, source)) for file in sorted((ROOT / "infra" / "analysis").glob("*.cpp"))]
    mutants.apply(source, BUGS)
    main = source / "StructuredAccess.cpp"
    main.write_text("".join(file.read_text() for file in [*copies, main]))
    for file in copies:
        file.unlink()
    return mutants.build_source("passes/triton_to_structured", scratch)


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/triton_to_structured", libraries, bug) == (not bug)
