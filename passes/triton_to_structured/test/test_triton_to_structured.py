# SPDX-License-Identifier: Apache-2.0
"""Kernels compute the same on the CPU by way of `tts` and without it; the tests find bugs of both passes."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support import mutants

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver

BACK = tx.Pipeline().at_end(
    "ttir",
    tx.passes.ttir.scalarize_induction(),
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


BUGS = {
    "the low bound of a box is lost": mutants.Mutation(
        "TritonToStructured.cpp", "!box || !llvm::all_of(box->low, isZero)", "!box"
    ),
    "a store to one address": mutants.Mutation(
        "TritonToStructured.cpp", "(isStore && overlaps(*tracked, shape))", "false"
    ),
    "volatile": mutants.Mutation("TritonToStructured.cpp", "op.getIsVolatile()", "false"),
    "any default": mutants.Mutation("TritonToStructured.cpp", "(op.getOther() && !isSplat(op.getOther()))", "false"),
    "no mask": mutants.Mutation("TritonToStructured.cpp", "!isWhole(*box, shape)", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/triton_to_structured", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/triton_to_structured", libraries, bug) == (not bug)
