# SPDX-License-Identifier: Apache-2.0
"""Kernels for probe.py: each has one probe in each program, or one in each turn of its loop, or none (``WHAT``)."""

from __future__ import annotations

import triton
import triton.language as tl

from triton_ext import probe


@triton.jit
def observe(x, k, WHAT: tl.constexpr):  # noqa: N803
    """Runs the probe `WHAT` on a tile `x` and a number `k`."""
    if WHAT == "count":
        probe.count("calls")
    elif WHAT == "count of lanes":
        probe.count("positive", x > 0)
    elif WHAT == "record":
        probe.record("call", k)
    elif WHAT == "record of lanes":
        probe.record("large", x, mask=x > 1e4)
    elif WHAT == "check":
        probe.check(k >= 0, "not negative", k)
    elif WHAT == "check of lanes":
        probe.check(x < 1e4, "small", x)
    elif WHAT == "minmax":
        probe.minmax("x", x)
    elif WHAT == "stats":
        probe.stats("x", x)
    elif WHAT == "histogram":
        probe.histogram("x", x, 64, -4, 4)
    elif WHAT == "device_print":
        tl.device_print("call", k)


@triton.jit
def add(x, y, z, n, TILES: tl.constexpr, N: tl.constexpr, WHAT: tl.constexpr, EACH_TURN: tl.constexpr):  # noqa: N803, PLR0917
    """z = x + y, memory-bound; a program adds `TILES` tiles."""
    first = tl.program_id(0) * TILES
    v = tl.zeros((N,), tl.float32)
    for tile in range(TILES):
        i = (first + tile) * N + tl.arange(0, N)
        v = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
        if EACH_TURN:
            observe(v, tile, WHAT)
        tl.store(z + i, v, mask=i < n)
    if not EACH_TURN:
        observe(v, first, WHAT)


@triton.jit
def matmul(  # noqa: PLR0917
    a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHAT: tl.constexpr, EACH_TURN: tl.constexpr  # noqa: N803
):  # fmt: skip
    """C = A @ B, row major, no masks; compute-bound."""
    columns = tl.cdiv(N, BN)
    i = tl.program_id(0) // columns * BM + tl.arange(0, BM)
    j = tl.program_id(0) % columns * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + i[:, None] * K + (start + k)[None, :])
        y = tl.load(b + (start + k)[:, None] * N + j[None, :])
        total = tl.dot(x, y, total)
        if EACH_TURN:
            observe(x.to(tl.float32), start, WHAT)
    if not EACH_TURN:
        observe(total, tl.program_id(0), WHAT)
    tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16))


@triton.jit
def attention(  # noqa: PLR0917
    q, k, v, o, scale, LENGTH, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, WHAT: tl.constexpr, EACH_TURN: tl.constexpr  # noqa: N803
):  # fmt: skip
    """The forward pass of attention without a mask; compute-bound. Tensors are (heads, LENGTH, D)."""
    head = tl.program_id(1).to(tl.int64) * LENGTH * D
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :])
    most = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, LENGTH, BN):
        keys = tl.load(k + head + (start + n)[None, :] * D + d[:, None])
        s = tl.dot(query, keys) * scale
        larger = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - larger[:, None])
        shrink = tl.exp2(most - larger)
        norm = norm * shrink + tl.sum(p, 1)
        values = tl.load(v + head + (start + n)[:, None] * D + d[None, :])
        total = tl.dot(p.to(tl.float16), values, total * shrink[:, None])
        most = larger
        if EACH_TURN:
            observe(p, start, WHAT)
    if not EACH_TURN:
        observe(total, tl.program_id(0), WHAT)
    tl.store(o + head + m[:, None] * D + d[None, :], (total / norm[:, None]).to(tl.float16))


@triton.jit
def repeat(out, turns, N: tl.constexpr, WHAT: tl.constexpr):  # noqa: N803
    """Runs a probe `turns` times and little else."""
    x = tl.arange(0, N).to(tl.float32)
    for turn in range(turns):
        x = x * 0.999 + turn
        observe(x, turn, WHAT)
    tl.store(out + tl.program_id(0) * N + tl.arange(0, N), x)


@triton.jit
def offer(ACTIVE: tl.constexpr, N: tl.constexpr):  # noqa: N803
    """Offers a record for each of `ACTIVE` lanes."""
    i = tl.arange(0, N)
    probe.record("lane", i, mask=i < ACTIVE)
    probe.count("programs")


@triton.jit
def sort(x, n, N: tl.constexpr):  # noqa: N803
    """Sorts numbers into two histograms."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n)
    probe.histogram("fine", v, 1000, -2.5, 3.7, i < n)
    probe.histogram("coarse", v, 10, -1, 1, i < n)
