# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Loops swap and choose tiles of rows at loaded indices: rows stay rows, in both ways to linalg."""

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
def tiles(x, y, at, flags, out, n, m, s):
    """Swaps rows of other bases, indices and strides, and reads a part of them."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    p = x + tl.load(at + i)[:, None] * m + j[None, :]
    q = y + 40 - tl.load(at + 8 + i)[:, None] * 2 + j[None, :] * s
    total = tl.zeros((8, 4), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p, mask=(i < 7)[:, None] & (j < 3)[None, :], other=-7)
        p, q = q + 1, p
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(q))


@triton.jit
def chosen(x, y, at, flags, out, n, m, s):
    """Loaded flags choose between a strided tile and rows, which walk."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    a = x + i[:, None] * s + j[None, :] * 2
    p = y + (tl.load(at + i) * m)[:, None] + j[None, :]
    total = tl.zeros((8, 4), tl.int32)
    turn = 0
    while turn < n:
        total = total * 3 + tl.load(p)
        p = tl.where(tl.load(flags + turn) > 0, p + 1, a)
        turn += 1
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(p))


@triton.jit
def reloaded(x, y, at, flags, out, n, m, s):
    """Each iteration loads the indices of the next rows, to which the loop adds those before it."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    first = tl.load(at + i)
    p = x + first[:, None] + j[None, :] * s
    total = tl.zeros((8, 4), tl.int32)
    for turn in range(n):
        total = total * 3 + tl.load(p)
        p = y + tl.load(at + turn + i).to(tl.int64)[:, None] * 4 + j[None, :] + first[:, None]
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(p))


@triton.jit
def arms(x, y, at, flags, out, n, m, s):
    """One arm of a branch loads the indices of rows, the other one returns a tile that an inner loop advances."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    p = y + i[:, None] * 4 + j[None, :] * m
    total = tl.zeros((8, 4), tl.int32)
    for turn in range(n):
        total = total * 3 + tl.load(p)
        if tl.load(flags + turn) > 0:
            p = x + tl.load(at + turn + i)[:, None] * 3 + j[None, :]
        else:
            for _ in range(s):
                p += 2
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(p))


@triton.jit
def columns(x, y, at, flags, out, n, m, s):
    """Swaps columns at loaded indices in an outer loop, and walks with them, along the rows, in an inner one."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    p = x + i[:, None] + tl.load(at + j)[None, :] * m
    q = y + i[:, None] * s + tl.load(at + 4 + j)[None, :] + j[None, :] * 3
    total = tl.zeros((8, 4), tl.int32)
    for _ in range(n):
        k = 0
        while k < 2:
            total = total * 3 + tl.load(p)
            p += s
            k += 1
        p, q = q, p
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(q))


@triton.jit
def starts(x, y, at, flags, out, n, m, s):
    """Swaps the pointers to the first elements of rows."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    p, q = x + tl.load(at + i) * m, y + tl.load(at + 8 + i)
    total = tl.zeros((8, 4), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p[:, None] + j[None, :] * s)
        p, q = q, p
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(q[:, None] + j[None, :]))


@triton.jit
def products(x, y, at, flags, out, n, m, s):
    """Swaps rows whose offsets are products of sums that wrap at 32 bits: 4 * k * (2**30 + 1) is 4 * k."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    # The quotient is 0.
    factor = 1073741825 + m // (m + 1)
    p = x + ((tl.load(at + i) + i) * 4 * factor)[:, None] + j[None, :]
    q = y + tl.load(at + 8 + i)[:, None] + j[None, :] * s
    total = tl.zeros((8, 4), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p)
        p, q = q, p
    tl.store(out + i[:, None] * 4 + j[None, :], total * 5 + tl.load(q))


@triton.jit
def crossed(x, y, at, flags, out, n, m, s):
    """Swaps rows at loaded indices for columns at loaded indices."""
    i, j = tl.arange(0, 8), tl.arange(0, 4)
    p = x + tl.load(at + i)[:, None] * 4 + j[None, :]
    q = y + i[:, None] + tl.load(at + j)[None, :]
    total = tl.zeros((8, 4), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p)
        p, q = q, p
    tl.store(out + i[:, None] * 4 + j[None, :], total)


def first_tiles(kernel: Any, x: np.ndarray, y: np.ndarray, at: np.ndarray, m: int, s: int) -> tuple[Tile, Tile]:
    """Returns the elements of `p` and of the other tile before the loop."""
    i, j = np.arange(8)[:, None], np.arange(4)
    rows, others = at[:8, None], at[8:16, None]
    return {
        "tiles": ((x, rows * m + j), (y, 40 - others * 2 + j * s)),
        "chosen": ((y, rows * m + j), (x, i * s + j * 2)),
        "reloaded": ((x, rows + j * s), (y, i)),
        "arms": ((y, i * 4 + j * m), (y, i)),
        "columns": ((x, i + at[:4] * m), (y, i * s + at[4:8] + j * 3)),
        "starts": ((x, rows * m + j * s), (y, others + j * s)),
        "products": ((x, (rows + i) * 4 + j), (y, others + j * s)),
        "crossed": ((x, rows * 4 + j), (y, i + at[:4])),
    }[kernel.__name__]


def model(kernel: Any, x: np.ndarray, y: np.ndarray, at: np.ndarray, flags: np.ndarray, n: int, m: int, s: int) -> Any:
    """Returns what NumPy says about `out`."""
    i, j = np.arange(8)[:, None], np.arange(4)
    p, q = first_tiles(kernel, x, y, at, m, s)
    total = np.zeros((8, 4), np.int32)
    for turn in range(n):
        loaded = p[0][p[1]]
        if kernel is tiles:
            loaded = np.where((i < 7) & (j < 3), loaded, -7)
        total = total * 3 + loaded
        later = at[turn : turn + 8, None]
        if kernel is tiles:
            p, q = (q[0], q[1] + 1), p
        elif kernel is chosen:
            p = (p[0], p[1] + 1) if flags[turn] > 0 else q
        elif kernel is reloaded:
            p = (y, later * 4 + j + at[:8, None])
        elif kernel is arms:
            p = (x, later * 3 + j) if flags[turn] > 0 else (p[0], p[1] + 2 * s)
        elif kernel is columns:
            total = total * 3 + p[0][p[1] + s]
            p, q = q, (p[0], p[1] + 2 * s)
        else:
            p, q = q, p
    if kernel is crossed:
        return total
    last, offsets = p if kernel in (chosen, reloaded, arms) else q
    if kernel is starts:
        offsets = offsets - j * s + j
    return total * 5 + last[offsets]


KERNELS = [tiles, chosen, reloaded, arms, columns, starts, products, crossed]


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_elements_are_those_of_numpy(kernel: Any, via: Way) -> None:
    rng = np.random.default_rng(19)
    for n, m, s in [(0, 3, 1), (1, 5, 0), (2, 1, 3), (5, 0, 2), (6, 4, 1)]:
        x, y = (rng.integers(-1000, 1000, 128).astype(np.int32) for _ in range(2))
        at, flags = rng.integers(0, 16, 16).astype(np.int32), rng.integers(0, 2, 8).astype(np.int32)
        expected = model(kernel, x, y, at, flags, n, m, s)
        out = torch.zeros(expected.shape, dtype=torch.int32)
        with execute.through_linalg(at_end=True, via=via):
            kernel[1,](*map(torch.from_numpy, (x, y, at, flags)), out, n, m, s)
        np.testing.assert_array_equal(out.numpy(), expected, str((n, m, s, at, flags)))


SIGNATURE = "*i32, *i32, *i32, *i32, *i32, i32, i32, i32"

# Accesses of blocks, of rows, and of elements. A flag is an element.
ACCESSES = {
    "tiles": ((3, 2, 0), (3, 0, 2)),
    "chosen": ((2, 2, 1), (2, 0, 3)),
    "reloaded": ((3, 2, 0), (3, 0, 2)),
    "arms": ((2, 2, 1), (2, 0, 3)),
    "columns": ((3, 2, 0), (3, 0, 2)),
    "starts": ((3, 2, 0), (3, 0, 2)),
    "products": ((3, 2, 0), (3, 0, 2)),
    "crossed": ((3, 0, 1), (3, 0, 1)),
}


def accesses(kernel: Any, **how: Any) -> tuple[int, int, int]:
    found = ways_page.count(tx.linalg.compile(kernel, SIGNATURE, **how))
    return found.blocks, found.rows, found.elements


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_only_crossed_rows_are_gathers(kernel: Any, via: Way) -> None:
    with_pass, without = ACCESSES[kernel.__name__]
    assert accesses(kernel, via=via) == with_pass
    assert accesses(kernel, via=via, pipeline=tx.Pipeline().skip("linalgir:carry_strides")) == without
