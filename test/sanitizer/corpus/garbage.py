# SPDX-License-Identifier: Apache-2.0
"""Loads without ``other`` whose masked-off lanes, which may hold anything, change what the kernel does."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from support.sanitizer.cases import case


@case("lanes", "sum", lambda t: {"x": t(50), "out": t(1), "n": 50}, "x")
@triton.jit
def sum_of_garbage(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=None if BUG else 0)  # BUG
    tl.store(out, tl.sum(v, 0))


@case("lanes", "max", lambda t: {"x": t(50), "out": t(1), "n": 50}, "x")
@triton.jit
def max_of_garbage(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n)  # BUG
    if not BUG:
        v = tl.where(i < n, v, float("-inf"))
    tl.store(out, tl.max(v, 0))


@case("lanes", "store without a mask", lambda t: {"x": t(50), "out": t(64), "n": 50}, "x")
@triton.jit
def stored_garbage(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n) * 2.0  # BUG
    tl.store(out + i, v, mask=i < (64 if BUG else n))


@case("lanes", "store with a wider mask", lambda t: {"x": t(50), "out": t(64), "n": 50, "m": 60}, "x")
@triton.jit
def wider_store(x, out, n, m, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n)  # BUG
    tl.store(out + i, v, mask=i < (m if BUG else n))


@case(
    "lanes", "tail of K", lambda t: {
        "x": t(16, 20, dtype=torch.float16), "y": t(32, 16, dtype=torch.float16), "out": t(16, 16), "K": 20
    }, "x",
)  # fmt: skip
@triton.jit
def dot_of_garbage(x, y, out, K, BUG: tl.constexpr):
    m, k = tl.arange(0, 16), tl.arange(0, 32)
    a = tl.load(x + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=None if BUG else 0)  # BUG
    b = tl.load(y + k[:, None] * 16 + m[None, :])
    tl.store(out + m[:, None] * 16 + m[None, :], tl.dot(a, b))


@case("lanes", "branch", lambda t: {"flags": t(4), "out": t(4), "n": 3}, "flags", grid=(4,))
@triton.jit
def branch_on_garbage(flags, out, n, BUG: tl.constexpr):
    pid = tl.program_id(0)
    flag = tl.load(flags + pid, mask=pid < n, other=None if BUG else -1)  # BUG
    if flag > 0:
        tl.store(out + pid, 1.0)


@case("lanes", "atomic add", lambda t: {"x": t(50), "out": t(64), "n": 50}, "x")
@triton.jit
def atomic_of_garbage(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n)  # BUG
    tl.atomic_add(out + i, v, mask=(i < n) | BUG)


@case("lanes", "accumulated in a loop", lambda t: {"x": t(100), "out": t(1), "n": 100}, "x")
@triton.jit
def accumulated_garbage(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    total = tl.zeros((32,), tl.float32)
    for start in range(0, n, 32):
        total += tl.load(x + start + i, mask=start + i < n, other=None if BUG else 0)  # BUG
    tl.store(out, tl.sum(total, 0))


@case("lanes", "softmax without -inf", lambda t: {"x": t(50), "out": t(50), "n": 50}, "x")
@triton.jit
def softmax_of_garbage(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=None if BUG else float("-inf"))  # BUG
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + i, e / tl.sum(e, 0), mask=i < n)


@case("lanes", "index", lambda t: {"index": t(50, dtype=torch.int32), "x": t(64), "out": t(64), "n": 50}, "index")
@triton.jit
def garbage_as_index(index, x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    j = tl.load(index + i, mask=i < n, other=None if BUG else 0)  # BUG
    v = tl.load(x + (j & 63))
    tl.store(out + i, v)


@case("lanes", "scan", lambda t: {"x": t(50), "out": t(64), "n": 50}, "x")
@triton.jit
def scan_of_garbage(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=(i > 13) & (i < n), other=None if BUG else 0)  # BUG
    tl.store(out + i, tl.cumsum(v, 0), mask=i < n)


@case("lanes", "where with the wrong mask", lambda t: {"x": t(50), "out": t(1), "n": 50}, "x")
@triton.jit
def where_with_another_mask(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n)  # BUG
    v = tl.where(i < (n + 1 if BUG else n), v, 0.0)
    tl.store(out, tl.sum(v, 0))


@case("lanes", "multiplied with 0", lambda t: {"x": t(50), "out": t(1), "n": 50}, "x")
@triton.jit
def garbage_times_zero(x, out, n, BUG: tl.constexpr):
    """NaN times 0 is NaN."""
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=None if BUG else 0)  # BUG
    tl.store(out, tl.sum(v * (i < n).to(tl.float32), 0))


@case("lanes", "a matrix's rows, summed by column", lambda t: {"x": t(10, 16), "out": t(16), "rows": 10}, "x")
@triton.jit
def sum_over_rows(x, out, rows, BUG: tl.constexpr):
    """The twin sums along the other axis, and garbage stays in rows that it does not store."""
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    v = tl.load(x + r * 16 + c, mask=r < rows)  # BUG
    if BUG:
        tl.store(out + tl.arange(0, 16), tl.sum(v, 0))
    else:
        tl.store(out + tl.arange(0, 16), tl.sum(v, 1), mask=tl.arange(0, 16) < rows)
