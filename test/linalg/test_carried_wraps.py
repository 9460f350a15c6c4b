# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Loops swap and choose tensors of pointers with other strides and remainders: all stay views, in both ways."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support.linalg import execute, ways_page

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock"), pytest.mark.keeps_kernels]

Way = Literal["structured"] | None
Tile = tuple[np.ndarray, np.ndarray]


@triton.jit
def strides(x, y, flags, out, n, m, s):
    """Swaps tensors of other bases, offsets, starts of ranges and strides; the advanced one runs backward."""
    i = tl.arange(0, 16)
    p, q = x + 30 + i * 2, y + 60 - tl.arange(16, 32) * s
    total = tl.zeros((16,), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p)
        p, q = q - m, p
    tl.store(out + i, total * 5 + tl.load(q))


@triton.jit
def chosen(x, y, flags, out, n, m, s):
    """Loaded flags choose between a tensor that walks and another one of other strides."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    a, b = x + i[:, None] * s + j[None, :], y + i[:, None] + j[None, :] * 8
    p = a
    total = tl.zeros((8, 4), tl.int32)
    turn = 0
    while turn < n:
        total = total * 3 + tl.load(p)
        p = tl.where(tl.load(flags + turn) > 0, p + m, b)
        turn += 1
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(p))


@triton.jit
def wrapped(x, y, flags, out, n, m, s):
    """Swaps a tensor that wraps around, also below 0, with one that does not."""
    i = tl.arange(0, 16)
    p, q = x + 9 + (i - 9) % m, y + s + i
    total = tl.zeros((16,), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p, mask=i < 13, other=-7)
        p, q = q + 1, p
    tl.store(out + i, total * 5 + tl.load(q))


@triton.jit
def both_wrap(x, y, flags, out, n, m, s):
    """Swaps the rows that wrap around for columns that do, of other strides, moduli and first elements."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    p = x + (i % m)[:, None] * s + j[None, :]
    q = y + 1 + i[:, None] * 4 + ((j * 2 + 3) % 5)[None, :]
    total = tl.zeros((8, 4), tl.int32)
    turn = 0
    while turn < n:
        total = total * 3 + tl.load(p)
        p, q = q, p
        turn += 1
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(q))


@triton.jit
def chosen_wraps(x, y, flags, out, n, m, s):
    """Reads through a tensor that flags choose in an inner loop, among a reversed one and two that wrap around."""
    i = tl.arange(0, 16)
    a, b = x + i % m, y + (i + 3) % 16
    p = y + 15 - i
    total = tl.zeros((16,), tl.int32)
    for turn in range(n):
        for _ in range(2):
            total = total * 3 + tl.load(p)
            p = tl.where(tl.load(flags + turn) > 0, a, p + 1)
        p = tl.where(turn == s, a, b)
    tl.store(out + i, total * 5 + tl.load(p))


@triton.jit
def lanes(x, y, flags, out, n, m, s):
    """Each lane chooses on its own, so the pointers are not strided."""
    i = tl.arange(0, 16)
    a, b = x + i * 2, y + i % m
    p = a
    total = tl.zeros((16,), tl.int32)
    for turn in range(n):
        total = total * 3 + tl.load(p)
        p = tl.where(i < turn, a, b)
    tl.store(out + i, total)


@triton.jit
def twice(x, y, flags, out, n, m, s):
    """One of the swapped tensors wraps around twice along the same dimension."""
    i = tl.arange(0, 16)
    p, q = x + i % m + i % 3, y + i
    total = tl.zeros((16,), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p)
        p, q = q, p
    tl.store(out + i, total)


def model(kernel: Any, x: np.ndarray, y: np.ndarray, flags: np.ndarray, n: int, m: int, s: int) -> np.ndarray:
    """Returns what NumPy says about `out`."""
    i, j = np.arange(16), np.arange(4)
    rows = np.arange(8)[:, None]
    p: Tile
    q: Tile
    p, q = {
        "strides": ((x, 30 + i * 2), (y, 60 - (i + 16) * s)),
        "chosen": ((x, rows * s + j), (y, rows + j * 8)),
        "wrapped": ((x, 9 + np.fmod(i - 9, m)), (y, s + i)),
        "both_wrap": ((x, rows % m * s + j), (y, 1 + rows * 4 + (j * 2 + 3) % 5)),
        "chosen_wraps": ((y, 15 - i), (y, (i + 3) % 16)),
        "lanes": ((x, i * 2), (y, i % m)),
        "twice": ((x, i % m + i % 3), (y, i)),
    }[kernel.__name__]
    total = np.zeros(p[1].shape, np.int32)
    for turn in range(n):
        for _ in range(2 if kernel is chosen_wraps else 1):
            loaded = p[0][p[1]]
            if kernel is wrapped:
                loaded = np.where(i < 13, loaded, -7)
            total = total * 3 + loaded
            if kernel is chosen_wraps:
                p = (x, i % m) if flags[turn] > 0 else (p[0], p[1] + 1)
        if kernel is strides:
            p, q = (q[0], q[1] - m), p
        elif kernel is chosen:
            p = (p[0], p[1] + m) if flags[turn] > 0 else q
        elif kernel is wrapped:
            p, q = (q[0], q[1] + 1), p
        elif kernel is chosen_wraps:
            p = (x, i % m) if turn == s else q
        elif kernel is lanes:
            mixed = np.where(i < turn, x[i * 2], y[i % m])
            p = (mixed, i)
        else:
            p, q = q, p
    if kernel in (lanes, twice):
        return total
    last = p if kernel in (chosen, chosen_wraps) else q
    return total * 5 + last[0][last[1]]


KERNELS = [strides, chosen, wrapped, both_wrap, chosen_wraps, lanes, twice]


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_elements_are_those_of_numpy(kernel: Any, via: Way) -> None:
    rng = np.random.default_rng(19)
    # A stride of 0 makes the modulus of `both_wrap` 0.
    for n, m, s in [(0, 3, 1), (1, 5, 0), (2, 1, 1), (5, 7, 0), (6, 4, 1)]:
        x, y = (rng.integers(-1000, 1000, 64).astype(np.int32) for _ in range(2))
        flags = rng.integers(0, 2, 8).astype(np.int32)
        expected = model(kernel, x, y, flags, n, m, s)
        out = torch.zeros(expected.shape, dtype=torch.int32)
        with execute.through_linalg(at_end=True, via=via):
            kernel[1,](*map(torch.from_numpy, (x, y, flags)), out, n, m, s)
        np.testing.assert_array_equal(out.numpy(), expected, str((n, m, s, flags)))


SIGNATURE = "*i32, *i32, *i32, *i32, i32, i32, i32"

# Accesses of blocks, of runs of a remainder, and of elements. A flag is an element.
ACCESSES = {
    "strides": ((3, 0, 0), (1, 0, 2)),
    "chosen": ((3, 0, 1), (1, 0, 3)),
    "wrapped": ((1, 2, 0), (1, 0, 2)),
    "both_wrap": ((1, 2, 0), (1, 0, 2)),
    "chosen_wraps": ((1, 2, 1), (1, 0, 3)),
    "lanes": ((1, 0, 1), (1, 0, 1)),
    "twice": ((1, 0, 1), (1, 0, 1)),
}


def accesses(kernel: Any, **how: Any) -> tuple[int, int, int]:
    found = ways_page.count(tx.linalg.compile(kernel, SIGNATURE, **how))
    return found.blocks, found.rows, found.elements


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_only_lanes_and_two_remainders_are_gathers(kernel: Any, via: Way) -> None:
    with_pass, without = ACCESSES[kernel.__name__]
    assert accesses(kernel, via=via) == with_pass
    assert accesses(kernel, via=via, pipeline=tx.Pipeline().skip("linalgir:carry_strides")) == without
