# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""With the option `fill-masks`, masks that are data and selects by them are fills and copies of boxes."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support.linalg import execute

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock"), pytest.mark.keeps_kernels]

Way = Literal["structured"] | None
FILL = tx.Pipeline().set("linalgir.convert_triton_to_linalg", fill_masks=True)


@triton.jit
def choose(x, y, out, low, high, rows):
    """A tile of two tensors, and lines of numbers."""
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    at = i[:, None] * 16 + j[None, :]
    mask = (i < rows)[:, None] & ((j >= low) & (j < high))[None, :]
    tl.store(out + at, tl.where(mask, tl.load(x + at), tl.load(y + at)))
    tl.store(out + 128 + j, tl.where(j <= high, j * 3, -1))
    tl.store(out + 144 + j, tl.where(j == low, j * 5, high))


@triton.jit
def count(x, y, out, low, high, rows):
    """Masks as numbers; one of them is also the mask of a load."""
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    at = i[:, None] * 16 + j[None, :]
    mask = (i > rows)[:, None] & ((j > low) & (j < high))[None, :]
    tl.store(out + at, tl.load(x + at, mask=mask, other=7) + mask * 1000)
    tl.store(out + 128 + j, (j < high).to(tl.int32) - (j >= low).to(tl.int32))
    tl.store(out + 144 + j, tl.sum(mask.to(tl.int32), 0))


def model(kernel: Any, x: np.ndarray, y: np.ndarray, low: int, high: int, rows: int) -> np.ndarray:
    """Returns what NumPy says about `out`."""
    i, j = np.arange(8)[:, None], np.arange(16)
    x, y = x.reshape(8, 16), y.reshape(8, 16)
    if kernel is choose:
        tile = np.where((i < rows) & (j >= low) & (j < high), x, y)
        lines = [np.where(j <= high, j * 3, -1), np.where(j == low, j * 5, high)]
    else:
        mask = (i > rows) & (j > low) & (j < high)
        tile = np.where(mask, x, 7) + mask * 1000
        lines = [(j < high).astype(int) - (j >= low), mask.sum(0)]
    return np.concatenate([tile.ravel(), *lines])


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", [choose, count])
def test_the_numbers_are_those_of_numpy(kernel: Any, via: Way) -> None:
    x, y = np.random.default_rng(5).integers(-1000, 1000, (2, 128)).astype(np.int32)
    for low, high, rows in itertools.product((-3, 0, 5, 16), (-1, 4, 15, 99), (-2, 0, 3, 8)):
        out = torch.zeros(160, dtype=torch.int32)
        with execute.through_linalg(at_end=True, via=via, pipeline=FILL):
            kernel[1,](torch.from_numpy(x), torch.from_numpy(y), out, low, high, rows)
        np.testing.assert_array_equal(out.numpy(), model(kernel, x, y, low, high, rows), str((low, high, rows)))


SIGNATURE = "*i32, *i32, *i32, i32, i32, i32"


@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("kernel", [choose, count])
def test_no_element_is_compared(kernel: Any, via: Way) -> None:
    """Without the option, all masks that are data are comparisons of elements."""
    assert "{ arith.cmpi" in tx.linalg.compile(kernel, SIGNATURE, via=via)
    filled = tx.linalg.compile(kernel, SIGNATURE, via=via, pipeline=FILL)
    assert "{ arith.cmpi" not in filled
    assert "{ arith.select" not in filled
