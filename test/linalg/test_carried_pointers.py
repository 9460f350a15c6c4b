# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Tiles whose pointers loops carry stay views in both ways to linalg, and nothing is a gather."""

from __future__ import annotations

from typing import Literal

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support.linalg import ways_page

SIGNATURE = "*fp32, *fp32, *fp32, i32, i32, i32"


@triton.jit
def two_loops(x, y, out, n, m, stride):
    """Advances two tiles in an inner and in an outer loop, one of them in some iterations only."""
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    p = x + i[:, None] * stride + j[None, :]
    q = y + i[:, None] + j[None, :] * stride
    total = tl.zeros((16, 8), tl.float32)
    for turn in range(n):
        for _ in range(m):
            total += tl.load(p) * tl.load(q)
            p += 8
            if turn > 2:
                q += 8 * stride
        p += 16 * stride
    tl.store(out + i[:, None] * 8 + j[None, :], total)


@triton.jit
def swapped(x, y, out, n, m, stride):
    """Reads one of two buffers and writes the other one, in a loop that ends when it likes."""
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    p = x + i[:, None] * stride + j[None, :]
    q = y + i[:, None] * 8 + j[None, :]
    turn = 0
    while turn < n:
        tl.store(q, tl.load(p, mask=j[None, :] < m, other=0.0) + 1.0)
        p, q = q, p
        turn += m
    tl.store(out + i[:, None] * 8 + j[None, :], tl.load(p))


def gathers(kernel: object, **how: object) -> int:
    """Returns the number of accesses of single elements."""
    return ways_page.count(tx.linalg.compile(kernel, SIGNATURE, **how)).elements


@pytest.mark.slow
@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", [two_loops, swapped])
def test_carried_tiles_are_views(kernel: object, via: Literal["structured"] | None) -> None:
    assert gathers(kernel, via=via) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "gathered"), [(two_loops, 1), (swapped, 3)])
def test_without_the_pass_they_are_gathers(kernel: object, gathered: int) -> None:
    assert gathers(kernel, pipeline=tx.Pipeline().skip("linalgir:carry_strides")) == gathered
