# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N803, PLR0917
"""Kernels for `linalg_ways.py` with accesses of rows, columns and exchanged pointers."""

import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, index, out, D: tl.constexpr, BLOCK: tl.constexpr):
    """Loads whole rows, at loaded indices."""
    i, j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    rows = tl.load(index + i)
    tl.store(out + i[:, None] * D + j[None, :], tl.load(x + rows[:, None] * D + j[None, :]))


@triton.jit
def columns_kernel(x, index, out, n, D: tl.constexpr, BLOCK: tl.constexpr):
    """Loads columns at loaded indices: no two elements of a column are neighbours."""
    i, j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    columns = tl.load(index + j)
    tl.store(out + i[:, None] * D + j[None, :], tl.load(x + i[:, None] * n + columns[None, :]))


@triton.jit
def masked_rows_kernel(x, keep, out, n, D: tl.constexpr, BLOCK: tl.constexpr):
    """Loads the rows of which `keep` says so, up to column n."""
    i, j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    mask = (tl.load(keep + i) != 0)[:, None] & (j < n)[None, :]
    at = i[:, None] * D + j[None, :]
    tl.store(out + at, tl.load(x + at, mask=mask, other=0.0))


@triton.jit
def swapped_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """Sums blocks of two arrays in turns: the loop swaps their pointers."""
    i = tl.arange(0, BLOCK)
    start = tl.program_id(0) * n
    this, other = x + start + i, y + start + i
    acc = tl.zeros((BLOCK,), tl.float32)
    for _ in range(0, n, BLOCK):
        acc += tl.load(this)
        this, other = other + BLOCK, this + BLOCK
    tl.store(out + tl.program_id(0) * BLOCK + i, acc)
