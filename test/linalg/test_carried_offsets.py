# SPDX-License-Identifier: Apache-2.0
"""Loops that add a tensor to carried pointers carry a tensor of offsets: rows stay rows, in both ways to linalg."""

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


@triton.jit
def walk(x, at, steps, out, n):
    """Each element walks through memory on its own, from anywhere."""
    i = tl.arange(0, 16)
    p = x + tl.load(at + i)
    total = tl.zeros((16,), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p)
        p += tl.load(steps + i)
    tl.store(out + i, total * 5 + tl.load(p))


@triton.jit
def rows(x, at, steps, out, n):
    """Each row walks on its own, while there is something left to do."""
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    p = x + tl.load(at + i)[:, None] * 16 + j[None, :]
    step = tl.load(steps + i) * 16
    total = tl.zeros((8, 16), tl.int32)
    turn = 0
    while turn < n:
        total = total * 3 + tl.load(p, mask=j[None, :] < 13 - turn, other=-9)
        p += step[:, None]
        turn += 1
    tl.store(out + i[:, None] * 16 + j[None, :], total * 5 + tl.load(p))


@triton.jit
def sometimes(x, at, steps, out, n):
    """A branch adds offsets, which it loads, to the rows of a strided tile, and the loop adds 1 to all of them."""
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    p = x + i[:, None] * 16 + j[None, :]
    total = tl.zeros((8, 16), tl.int32)
    for turn in range(n):
        total = total * 3 + tl.load(p)
        if turn % 2 == 1:
            p += tl.load(steps + i)[:, None] * 16
        p += 1
    tl.store(out + i[:, None] * 16 + j[None, :], total * 5 + tl.load(p))


@triton.jit
def swapped(x, at, steps, out, n):
    """Two tiles with the same rows before the loop take turns, and one of them walks."""
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    tile = tl.load(at + i)[:, None] * 16 + j[None, :]
    p, q = x + tile, x + 512 + tile
    step = tl.load(steps + i) * 16
    total = tl.zeros((8, 16), tl.int32)
    turn = 0
    while turn < n:
        total = total * 3 + tl.load(p)
        p, q = q, p + step[:, None]
        turn += 1
    tl.store(out + i[:, None] * 16 + j[None, :], total * 5 + tl.load(q))


@triton.jit
def everywhere(x, at, steps, out, n):
    """Rows and columns walk, so no dimension is left that is strided."""
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    p = x + tl.load(at + i)[:, None] * 16 + j[None, :]
    total = tl.zeros((8, 16), tl.int32)
    for _ in range(n):
        total = total * 3 + tl.load(p)
        p += tl.load(steps + i)[:, None] + tl.load(steps + j)[None, :]
    tl.store(out + i[:, None] * 16 + j[None, :], total * 5 + tl.load(p))


def model(kernel: Any, x: np.ndarray, at: np.ndarray, steps: np.ndarray, n: int) -> np.ndarray:
    """Returns what NumPy says about `out`."""
    j = np.arange(16)
    if kernel is walk:
        p, step = at, steps
    else:
        p = (np.arange(8) if kernel is sometimes else at[:8])[:, None] * 16 + j
        step = steps[:8, None] + steps if kernel is everywhere else steps[:8, None] * 16
    other, total = p + 512, np.zeros(p.shape, np.int32)
    for turn in range(n):
        loaded = np.where(j < 13 - turn, x[p], -9) if kernel is rows else x[p]
        total = total * 3 + loaded
        if kernel is swapped:
            p, other = other, p + step
        elif kernel is sometimes:
            p = p + step * (turn % 2) + 1
        else:
            p = p + step
    return total * 5 + x[other if kernel is swapped else p]


KERNELS = [walk, rows, sometimes, swapped, everywhere]


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_offsets_are_those_of_numpy(kernel: Any, via: Way) -> None:
    rng = np.random.default_rng(7)
    for n in (0, 1, 2, 5):
        x = rng.integers(-1000, 1000, 1024).astype(np.int32)
        at, steps = (rng.integers(0, 16, 16).astype(np.int32) for _ in range(2))
        steps //= 5 if n == 5 else 1
        expected = model(kernel, x, at, steps, n)
        out = torch.zeros(expected.shape, dtype=torch.int32)
        with execute.through_linalg(at_end=True, via=via):
            kernel[1,](*map(torch.from_numpy, (x, at, steps)), out, n)
        np.testing.assert_array_equal(out.numpy(), expected, str((at, steps, n)))


SIGNATURE = "*i32, *i32, *i32, *i32, i32"


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize(
    ("kernel", "accesses"),
    [(walk, (0, 2)), (rows, (2, 0)), (sometimes, (2, 0)), (swapped, (2, 0)), (everywhere, (0, 2))],
)
def test_rows_stay_rows(kernel: Any, accesses: tuple[int, int], via: Way) -> None:
    found = ways_page.count(tx.linalg.compile(kernel, SIGNATURE, via=via))
    assert (found.rows, found.elements) == accesses


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_without_the_pass_all_are_elements(kernel: Any, via: Way) -> None:
    skipped = tx.Pipeline().skip("linalgir:carry_strides")
    found = ways_page.count(tx.linalg.compile(kernel, SIGNATURE, via=via, pipeline=skipped))
    assert (found.rows, found.elements) == (0, 2)
