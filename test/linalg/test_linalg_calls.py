# SPDX-License-Identifier: Apache-2.0
"""Executes kernels whose helpers return early and are called in loops, where they are inlined."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support.linalg import execute

pytestmark = pytest.mark.usefixtures("stock")


@triton.jit
def clipped(value, limit):
    if value > limit:
        return limit
    return value * 2


@triton.jit
def row_of(x, other, i):
    """Returns one of two pointers."""
    if i % 2 == 0:
        return x + i
    return other + 2 * i


@triton.jit
def sums(x, other, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.int32)
    for i in range(n):
        for j in range(2):
            acc += clipped(i * 3 + j, n) * tl.load(row_of(x, other, i) + lanes)
    tl.store(out + lanes, acc)


def expected(x: torch.Tensor, other: torch.Tensor, n: int) -> torch.Tensor:
    acc = torch.zeros(16, dtype=torch.int32)
    for i in range(n):
        for j in range(2):
            value = i * 3 + j
            row = x[i : i + 16] if i % 2 == 0 else other[2 * i : 2 * i + 16]
            acc += (n if value > n else value * 2) * row
    return acc


@pytest.mark.parametrize("n", [0, 1, 7])
def test_early_returns_in_loops(n: int) -> None:
    x, other = (torch.randint(-9, 9, (64,), dtype=torch.int32) for _ in range(2))
    out = torch.ones(16, dtype=torch.int32)
    with execute.through_linalg(at_end=True):
        sums[(1,)](x, other, out, n, BLOCK=16)
    assert out.equal(expected(x, other, n))


def test_nothing_is_called() -> None:
    """The stage, which runs pass by pass, gives the same as the one pass that runs them all."""
    signature = "*i32, *i32, *i32, i32, 16"
    ttir: list[str] = []

    def keep(module: object) -> None:
        ttir.append(str(module))

    keep.cache_key = "keep"  # type: ignore[attr-defined]
    text = tx.linalg.compile(sums, signature, pipeline=tx.Pipeline().at_end("ttir", keep))
    assert "tt.call" in ttir[0]
    for module in (text, tx.linalg.convert(ttir[0])):
        assert "scf.execute_region" in module
        assert "call @" not in module
