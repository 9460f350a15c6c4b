# SPDX-License-Identifier: Apache-2.0
"""Accesses outside of the view that was passed, but inside of the storage that it shares with others."""

from __future__ import annotations

import triton
import triton.language as tl

from support.sanitizer.cases import case


@case("view", "end of a slice", lambda t: {"x": t(128)[:100], "out": t(128)}, "x", lane=100, lanes=28, at=(100,))
@triton.jit
def end_of_a_slice(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < (128 if BUG else 100), other=0)  # BUG
    tl.store(out + i, v)


@case("view", "start of a slice", lambda t: {"x": t(128)[28:], "out": t(64)}, "x", lane=0, lanes=3, at=(-3,))
@triton.jit
def start_of_a_slice(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i - (3 if BUG else 0))  # BUG
    tl.store(out + i, v)


@case("view", "rows of a slice", lambda t: {"x": t(20, 16)[:10], "out": t(16, 16)}, "x", lane=160, lanes=96, at=(10, 0))
@triton.jit
def rows_of_a_slice(x, out, BUG: tl.constexpr):
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    v = tl.load(x + r * 16 + c, mask=r < (16 if BUG else 10), other=0)  # BUG
    tl.store(out + r * 16 + c, v)


@case("view", "a chunk", lambda t: {"q": t(96).chunk(3)[0], "out": t(64)}, "q", lane=32, lanes=32, at=(32,))
@triton.jit
def into_the_next_chunk(q, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(q + i, mask=i < (64 if BUG else 32), other=0)  # BUG
    tl.store(out + i, v)


@case("view", "store behind a slice", lambda t: {"x": t(64), "out": t(128)[:40]}, "out", lane=40, lanes=24, at=(40,))
@triton.jit
def store_behind_a_slice(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + i), mask=i < (64 if BUG else 40))  # BUG


@case(
    "view",
    "transposed slice",
    lambda t: {"x": t(16, 32).T[:20], "out": t(32, 16)},
    "x",
    lane=335,
    lanes=12,
    at=(20, 15),
)
@triton.jit
def transposed_slice(x, out, BUG: tl.constexpr):
    r, c = tl.arange(0, 32)[:, None], tl.arange(0, 16)[None, :]
    v = tl.load(x + r + c * 32, mask=(r < 20) | ((c == 15) & BUG), other=0)  # BUG
    tl.store(out + r * 16 + c, v)


@case(
    "view", "between the rows of a slice", lambda t: {"x": t(10, 32)[:, :20], "out": t(8, 32)}, "x", lane=20, lanes=96
)
@triton.jit
def between_the_rows(x, out, BUG: tl.constexpr):
    r, c = tl.arange(0, 8)[:, None], tl.arange(0, 32)[None, :]
    v = tl.load(x + r * 32 + c, mask=c < (32 if BUG else 20), other=0)  # BUG
    tl.store(out + r * 32 + c, v)


@case("view", "between every second element", lambda t: {"x": t(128)[::2], "out": t(64)}, "x", lane=1, lanes=32)
@triton.jit
def between_every_second(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i * (1 if BUG else 2))  # BUG
    tl.store(out + i, v)
