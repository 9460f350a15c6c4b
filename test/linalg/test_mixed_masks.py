# SPDX-License-Identifier: Apache-2.0
"""Masks that are boxes and more, and masks that are data, compute in both ways to linalg what NumPy does."""

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

SIGNATURE = "*i32, *i32, *i32, i32, i32"


@triton.jit
def in_place(x, flags, out, low, high):
    """The store shows that the load may read the whole box."""
    i = tl.arange(0, 32)
    box = (i >= low) & (i < high)
    v = tl.load(x + i, mask=box & (tl.load(flags + i) > 0), other=-5)
    tl.store(out + i, v)
    tl.store(x + i, v + 1, mask=box)


@triton.jit
def guarded(x, flags, out, low, high):
    """Only the flags say which memory there is."""
    i = tl.arange(0, 32)
    box = (i >= low) & (i < high)
    tl.store(out + i, tl.load(x + i, mask=box & (tl.load(flags + i) > 0), other=-5))


@triton.jit
def selects(x, flags, out, low, high):
    """The masks are data: of selects, of a sum, and one of them only in part a box."""
    i, j = tl.arange(0, 4), tl.arange(0, 8)
    at = i[:, None] * 8 + j[None, :]
    v = tl.load(flags + at)
    box = ((i >= low) & (i < 3))[:, None] & (j < high)[None, :]
    chosen = tl.where(box, v, at * 10)
    count = tl.sum(box.to(tl.int32), axis=1)
    other = tl.where(box & (v > 0), 1000, 0)
    tl.store(out + at, chosen + count[:, None] + other)


def model(kernel: Any, x: np.ndarray, flags: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    i = np.arange(32)
    after = x.copy()
    if kernel is selects:
        rows, columns = i // 8, i % 8
        box = (rows >= low) & (rows < 3) & (columns < high)
        count = box.reshape(4, 8).sum(1).repeat(8)
        return np.where(box, flags, i * 10) + count + np.where(box & (flags > 0), 1000, 0), after
    box = (i >= low) & (i < high)
    out = np.where(box & (flags > 0), np.resize(x, 32), -5)
    if kernel is in_place:
        after[box] = out[box] + 1
    return out, after


@pytest.mark.parametrize("kernel", [in_place, guarded, selects])
@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("at_end", [False, True])
def test_masks(kernel: Any, via: Literal["structured"] | None, at_end: bool) -> None:
    rng = np.random.default_rng(int(at_end))
    for _ in range(40):
        # A quarter of the memory that the guarded kernel masks off does not exist.
        count = 24 if kernel is guarded and at_end else 32
        x = rng.integers(-100, 100, count).astype(np.int32)
        flags = rng.integers(-3, 4, 32).astype(np.int32)
        flags[count:] = 0
        low, high = (int(number) for number in rng.integers(-3, 36 if kernel is not selects else 10, 2))
        out, memory = torch.zeros(32, dtype=torch.int32), torch.from_numpy(x.copy())
        with execute.through_linalg(at_end=at_end, via=via):
            kernel[1,](memory, torch.from_numpy(flags), out, low, high)
        expected, after = model(kernel, x, flags, low, high)
        np.testing.assert_array_equal(out.numpy(), expected, str((low, high)))
        np.testing.assert_array_equal(memory.numpy(), after, str((low, high)))


@pytest.mark.parametrize(("kernel", "elements"), [(in_place, 0), (guarded, 1)])
def test_a_box_is_a_view(kernel: Any, elements: int) -> None:
    assert ways_page.count(tx.linalg.compile(kernel, SIGNATURE)).elements == elements
    speculating = tx.Pipeline().set("linalgir.canonicalize_triton", speculate_loads=True)
    assert ways_page.count(tx.linalg.compile(kernel, SIGNATURE, pipeline=speculating)).elements == 0
