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
def add_tile(x, y, z, n, tile, N: tl.constexpr):  # noqa: N803, PLR0917
    """Adds one tile and returns it."""
    i = tile * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(z + i, v, mask=i < n)
    return v


@triton.jit
def add_tiles(x, y, z, n, TILES: tl.constexpr, N: tl.constexpr, WHAT: tl.constexpr):  # noqa: N803, PLR0917
    """Adds the tiles of a program and returns the last one."""
    first = tl.program_id(0) * TILES
    v = tl.zeros((N,), tl.float32)
    for tile in range(TILES):
        if WHAT == "region":
            with probe.region("tile"):
                v = add_tile(x, y, z, n, first + tile, N)
        elif WHAT == "region of warps":
            with probe.region("tile", per_warp=True):
                v = add_tile(x, y, z, n, first + tile, N)
        else:
            v = add_tile(x, y, z, n, first + tile, N)
            observe(v, tile, WHAT)
    return v


@triton.jit
def add(x, y, z, n, TILES: tl.constexpr, N: tl.constexpr, WHAT: tl.constexpr, EACH_TURN: tl.constexpr):  # noqa: N803, PLR0917
    """Adds x and y, memory-bound; a program adds `TILES` tiles."""
    if EACH_TURN:
        add_tiles(x, y, z, n, TILES, N, WHAT)
    elif WHAT == "region":
        with probe.region("loop"):
            add_tiles(x, y, z, n, TILES, N, "none")
    elif WHAT == "both":
        with probe.region("loop"):
            add_tiles(x, y, z, n, TILES, N, "region")
    elif WHAT == "region of warps":
        with probe.region("program", per_warp=True):
            add_tiles(x, y, z, n, TILES, N, "none")
    else:
        v = add_tiles(x, y, z, n, TILES, N, "none")
        observe(v, tl.program_id(0), WHAT)


@triton.jit
def multiply(x, y, total, WHAT: tl.constexpr):  # noqa: N803
    """Returns total + x @ y."""
    if WHAT == "region":
        with probe.region("dot"):
            total = tl.dot(x, y, total)
    elif WHAT == "region of warps":
        with probe.region("dot", per_warp=True):
            total = tl.dot(x, y, total)
    else:
        total = tl.dot(x, y, total)
    return total


@triton.jit
def products(pa, pb, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHAT: tl.constexpr):  # noqa: N803, PLR0917
    """Returns the sum of the products of tiles."""
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x, y = tl.load(pa), tl.load(pb)
        total = multiply(x, y, total, WHAT)
        observe(x.to(tl.float32), start, WHAT)
        pa += BK
        pb += BK * N
    return total


@triton.jit
def matmul(  # noqa: PLR0917
    a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHAT: tl.constexpr, EACH_TURN: tl.constexpr  # noqa: N803
):  # fmt: skip
    """C = A @ B, row major, no masks; compute-bound."""
    columns = tl.cdiv(N, BN)
    i = tl.program_id(0) // columns * BM + tl.arange(0, BM)
    j = tl.program_id(0) % columns * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa, pb = a + i[:, None] * K + k[None, :], b + k[:, None] * N + j[None, :]
    if EACH_TURN:
        total = products(pa, pb, K, N, BM, BN, BK, WHAT)
    elif WHAT == "region":
        with probe.region("loop"):
            total = products(pa, pb, K, N, BM, BN, BK, "none")
    elif WHAT == "both":
        with probe.region("loop"):
            total = products(pa, pb, K, N, BM, BN, BK, "region")
    elif WHAT == "region of warps":
        with probe.region("loop", per_warp=True):
            total = products(pa, pb, K, N, BM, BN, BK, "none")
    else:
        total = products(pa, pb, K, N, BM, BN, BK, "none")
        observe(total, tl.program_id(0), WHAT)
    tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16))


@triton.jit
def softmax(s, most, norm):
    """Returns the weights of a tile of scores, and what has become of the row's maximum and sum."""
    larger = tl.maximum(most, tl.max(s, 1))
    p = tl.exp2(s - larger[:, None])
    shrink = tl.exp2(most - larger)
    return p, larger, norm * shrink + tl.sum(p, 1), shrink


@triton.jit
def attend(query, pk, pv, scale, most, norm, total, WHAT: tl.constexpr):  # noqa: N803, PLR0917
    """Attends to one tile of keys."""
    if WHAT == "parts":
        with probe.region("scores"):
            s = tl.dot(query, tl.load(pk)) * scale
        with probe.region("softmax"):
            p, most, norm, shrink = softmax(s, most, norm)
        with probe.region("values"):
            total = tl.dot(p.to(tl.float16), tl.load(pv), total * shrink[:, None])
    else:
        s = tl.dot(query, tl.load(pk)) * scale
        p, most, norm, shrink = softmax(s, most, norm)
        total = tl.dot(p.to(tl.float16), tl.load(pv), total * shrink[:, None])
    return most, norm, total


@triton.jit
def attend_all(query, pk, pv, scale, LENGTH, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, WHAT: tl.constexpr):  # noqa: N803, PLR0917
    """Attends to all keys."""
    most = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, LENGTH, BN):
        if WHAT == "region":
            with probe.region("turn"):
                most, norm, total = attend(query, pk, pv, scale, most, norm, total, WHAT)
        elif WHAT == "region of warps":
            with probe.region("turn", per_warp=True):
                most, norm, total = attend(query, pk, pv, scale, most, norm, total, WHAT)
        else:
            most, norm, total = attend(query, pk, pv, scale, most, norm, total, WHAT)
            observe(total, start, WHAT)
        pk += BN * D
        pv += BN * D
    return norm, total


@triton.jit
def attention(  # noqa: PLR0917
    q, k, v, o, scale, LENGTH,  # noqa: N803
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, WHAT: tl.constexpr, EACH_TURN: tl.constexpr  # noqa: N803
):  # fmt: skip
    """The forward pass of attention without a mask; compute-bound. Tensors are (heads, LENGTH, D)."""
    head = tl.program_id(1).to(tl.int64) * LENGTH * D
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :])
    pk, pv = k + head + n[None, :] * D + d[:, None], v + head + n[:, None] * D + d[None, :]
    if WHAT == "parts":
        with probe.region("loop"):
            norm, total = attend_all(query, pk, pv, scale, LENGTH, D, BM, BN, WHAT)
        with probe.region("store"):
            tl.store(o + head + m[:, None] * D + d[None, :], (total / norm[:, None]).to(tl.float16))
    elif EACH_TURN:
        norm, total = attend_all(query, pk, pv, scale, LENGTH, D, BM, BN, WHAT)
    elif WHAT == "region":
        with probe.region("loop"):
            norm, total = attend_all(query, pk, pv, scale, LENGTH, D, BM, BN, "none")
    elif WHAT == "both":
        with probe.region("loop"):
            norm, total = attend_all(query, pk, pv, scale, LENGTH, D, BM, BN, "region")
    elif WHAT == "region of warps":
        with probe.region("loop", per_warp=True):
            norm, total = attend_all(query, pk, pv, scale, LENGTH, D, BM, BN, "none")
    else:
        norm, total = attend_all(query, pk, pv, scale, LENGTH, D, BM, BN, "none")
        observe(total, tl.program_id(0), WHAT)
    tl.store(o + head + m[:, None] * D + d[None, :], (total / norm[:, None]).to(tl.float16))


@triton.jit
def spin(x, turns):
    """Computes for a while."""
    for turn in range(turns):
        x = x * 0.999 + turn
    return x


@triton.jit
def repeat(out, turns, N: tl.constexpr, WHAT: tl.constexpr):  # noqa: N803
    """Runs a probe `turns` times and little else."""
    x = tl.arange(0, N).to(tl.float32)
    if WHAT == "whole":
        with probe.region("whole"):
            x = spin(x, turns)
        turns = 0
    for turn in range(turns):
        if WHAT == "region":
            with probe.region("turn"):
                x = x * 0.999 + turn
        elif WHAT == "region of warps":
            with probe.region("turn", per_warp=True):
                x = x * 0.999 + turn
        elif WHAT == "clock":
            x = x * 0.999 + (probe.clock() & 1)
        else:
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
