# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Tiles with any offsets or any mask along one dimension are loops over views, and touch nothing else.

Rows that are masked off have indices far outside of the tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support import mutants
from support.linalg import execute, ways_page

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock"), pytest.mark.keeps_kernels]

Way = Literal["structured"] | None
FAR = 1 << 28


@triton.jit
def load_rows(x, y, index, low, high, first, end):
    """Rows at any indices; the mask is a box that need not begin at 0, and another condition of each row."""
    r, c = tl.arange(0, 8), tl.arange(0, 16)
    at = tl.load(index + r)
    mask = ((r >= low) & (r < high) & (at < 64))[:, None] & ((c >= first) & (c < end))[None, :]
    other = (r[:, None] * 100 + c[None, :]).to(tl.float32)
    v = tl.load(x + at[:, None] * 16 + c[None, :], mask=mask, other=other)
    tl.store(y + r[:, None] * 16 + c[None, :], v)


@triton.jit
def skewed(x, y, index, low, high, first, end):
    """Rows of one stride, each of which begins somewhere else."""
    r, c = tl.arange(0, 8), tl.arange(0, 16)
    at = tl.load(index + r)
    mask = ((r >= low) & (r < high) & (at < 64))[:, None] & ((c >= first) & (c < end))[None, :]
    v = tl.load(x + r[:, None] * 16 + at[:, None] + c[None, :], mask=mask, other=-2.0)
    tl.store(y + r[:, None] * 16 + c[None, :], v)


@triton.jit
def store_rows(x, y, index, low, high, first, end):
    r, c = tl.arange(0, 8), tl.arange(0, 16)
    at = tl.load(index + r)
    mask = ((r >= low) & (r < high) & (at < 64))[:, None] & ((c >= first) & (c < end))[None, :]
    v = tl.load(x + r[:, None] * 16 + c[None, :])
    tl.store(y + at[:, None] * 16 + c[None, :], v, mask=mask)


@triton.jit
def mixed_mask(x, y, index, low, high, first, end):
    """The tile is strided; along its rows, the mask is a box and a condition that is not a bound."""
    r, c = tl.arange(0, 8), tl.arange(0, 16)
    at = tl.load(index + r)
    mask = ((r >= low) & (r < high) & (at < 64))[:, None] & ((c >= first) & (c < end))[None, :]
    tile = r[:, None] * 16 + c[None, :]
    tl.store(y + tile, tl.load(x + tile, mask=mask, other=-1.0) + 1, mask=mask)


@triton.jit
def flagged(x, y, index, low, high, first, end):
    """The box of the mask is the whole tile."""
    r, c = tl.arange(0, 8), tl.arange(0, 16)
    tile = r[:, None] * 16 + c[None, :]
    mask = (tl.load(index + r) < 64)[:, None]
    tl.store(y + tile, tl.load(x + tile, mask=mask, other=-3.0))


@triton.jit
def columns(x, y, index, low, high, first, end):
    """Rows along the last dimension, in the wrong order, of planes along the first one."""
    a, b, c = tl.arange(0, 4), tl.arange(0, 2), tl.arange(0, 8)
    at = tl.load(index + c)
    mask = ((c >= low) & (c < high) & (at < 64))[None, None, :] & ((a >= first) & (a < end))[:, None, None]
    v = tl.load(x + a[:, None, None] * 128 + b[None, :, None] * 64 + at[None, None, :], mask=mask)
    tl.store(y + a[:, None, None] * 16 + b[None, :, None] * 8 + c[None, None, :], v)


def model(kernel: Any, x: np.ndarray, index: np.ndarray, box: tuple[int, ...]) -> np.ndarray:
    """Returns what NumPy says about `y`."""
    low, high, first, end = (0, 8, 0, 16) if kernel is flagged else box
    y = np.full(1024, -7, np.float32)
    kept = (np.arange(8) >= low) & (np.arange(8) < high) & (index < 64)
    at = np.where(kept, index, 0)
    if kernel is columns:
        inside = (np.arange(4) >= first) & (np.arange(4) < end)
        mask = inside[:, None, None] & np.ones((1, 2, 1), bool) & kept
        y[:64] = np.where(mask, x[:512].reshape(4, 2, 64)[:, :, at], 0).ravel()
        return y
    mask = kept[:, None] & (np.arange(16) >= first) & (np.arange(16) < end)
    tile = np.arange(128).reshape(8, 16)
    if kernel is load_rows:
        other = np.arange(8)[:, None] * 100 + np.arange(16)
        y[:128] = np.where(mask, x.reshape(64, 16)[at], other).ravel()
    elif kernel is skewed:
        y[:128] = np.where(mask, x[tile + at[:, None]], -2).ravel()
    elif kernel is flagged:
        y[:128] = np.where(mask, x[:128].reshape(8, 16), -3).ravel()
    elif kernel is mixed_mask:
        y[tile[mask]] = x[tile[mask]] + 1
    else:
        for row, column in zip(*np.nonzero(mask), strict=True):
            y[at[row] * 16 + column] = x[row * 16 + column]
    return y


def draws(seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[int, ...]]]:
    """Returns tensors, indices of which some are far away, and boxes of which some are empty or whole."""
    rng = np.random.default_rng(seed)
    for turn in range(40):
        index = rng.permutation(np.arange(1, 64))[:8].astype(np.int32)
        if turn % 4:
            index[rng.random(8) < 0.3] = FAR
        box = tuple(int(n) for n in (*np.sort(rng.integers(-2, 11, 2)), *np.sort(rng.integers(-2, 19, 2))))
        yield rng.normal(size=1024).astype(np.float32), index, (0, 8, 0, 16) if turn % 8 < 2 else box


@pytest.mark.parametrize("kernel", [load_rows, skewed, store_rows, mixed_mask, flagged, columns])
@pytest.mark.parametrize("via", [None, "structured"])
@pytest.mark.parametrize("at_end", [False, True])
def test_rows(kernel: Any, via: Way, at_end: bool) -> None:
    for x, index, box in draws(int(at_end)):
        y = torch.full((1024,), -7.0)
        with execute.through_linalg(at_end=at_end, via=via):
            kernel[1,](torch.from_numpy(x), y, torch.from_numpy(index), *box)
        np.testing.assert_array_equal(y.numpy(), model(kernel, x, index, box), str((index, box)))


SIGNATURE = "*fp32, *fp32, *i32, i32, i32, i32, i32"


@pytest.mark.parametrize(
    ("kernel", "rows"), [(load_rows, 1), (skewed, 1), (store_rows, 1), (mixed_mask, 2), (flagged, 1), (columns, 1)]
)
def test_no_access_is_of_elements(kernel: Any, rows: int) -> None:
    found = ways_page.count(tx.linalg.compile(kernel, SIGNATURE))
    assert (found.rows, found.elements) == (rows, 0)


bug = partial(mutants.Mutation, "Rows.cpp")

BUGS = {
    "the box does not begin at its first row": bug("rows.box.low[rows.dim]", "access.math.number(0)"),
    "the box does not end": bug("rows.box.high[rows.dim]", "access.math.number(8)"),
    "the offset of a row is its index": bug("rows.offsets", "Value()", behind="Value offset = at;"),
    "a row is one after its place": bug("math.number(0)", "math.number(1)", behind="row.memory.low"),
    "a row lies at the beginning of the tensor": bug("at", "math.number(0)", behind="row.elements.low[rows.dim] ="),
    "rows have no stride": bug("math.mul(offset, offsets.strides[rows.dim])", "offset"),
    "a mask leaves nothing out": bug("rows.mask", "Value()", behind="must not look whole"),
    "a row that is masked off is accessed": bug(
        "isKept",
        "arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)).getResult()",
        behind="scf::IfOp::create",
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the conversion with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/convert_triton_to_linalg", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.parametrize("bug", ["", *BUGS])
def test_a_bug_is_noticed(bug: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(Path(__file__), "test_rows and None and False", libraries, bug, tmp_path)
    assert (done.returncode != 0) == bool(bug), done.stdout
