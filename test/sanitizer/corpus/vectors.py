# SPDX-License-Identifier: Apache-2.0
"""Accesses of one dimension that leave their tensor: masks that are missing, wrong or too wide, and wrong offsets."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from support.sanitizer.cases import case


@case("bounds", "load without a mask", lambda t: {"x": t(100), "out": t(128)}, "x", lane=100, lanes=28, at=(100,))
@triton.jit
def no_mask(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    if BUG:
        v = tl.load(x + i)  # BUG
    else:
        v = tl.load(x + i, mask=i < 100, other=0)
    tl.store(out + i, v)


@case(
    "bounds", "mask of the block", lambda t: {"x": t(100), "out": t(128), "n": 100}, "x", lane=100, lanes=28, at=(100,)
)
@triton.jit
def mask_of_the_block(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < (128 if BUG else n), other=0)  # BUG
    tl.store(out + i, v)


@case("bounds", "mask off by one", lambda t: {"x": t(99), "out": t(128), "n": 99}, "x", lane=99, lanes=1, at=(99,))
@triton.jit
def off_by_one(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < (n + 1 if BUG else n), other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds",
    "mask of another tensor",
    lambda t: {"x": t(90), "y": t(60), "out": t(128), "n": 90, "m": 60},
    "y",
    lane=60,
    lanes=30,
    at=(60,),
)
@triton.jit
def bound_of_another_tensor(x, y, out, n, m, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < n, other=0)
    w = tl.load(y + i, mask=i < (n if BUG else m), other=0)  # BUG
    tl.store(out + i, v + w)


@case("bounds", "store without a mask", lambda t: {"x": t(128), "out": t(70)}, "out", lane=70, lanes=58, at=(70,))
@triton.jit
def store_without_mask(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    v = tl.load(x + i)
    if BUG:
        tl.store(out + i, v)  # BUG
    else:
        tl.store(out + i, v, mask=i < 70)


@case(
    "bounds",
    "last program of a grid",
    lambda t: {"x": t(100), "out": t(128), "n": 100},
    "x",
    grid=(4,),
    program=(3,),
    lane=4,
    lanes=28,
    at=(100,),
)
@triton.jit
def last_program(x, out, n, BUG: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    v = tl.load(x + i, mask=i < tl.cdiv(n, 32) * (32 if BUG else 25), other=0)  # BUG
    tl.store(out + i, v)


@case("bounds", "stride of two", lambda t: {"x": t(64), "out": t(64), "n": 64}, "x", lane=32, lanes=32, at=(64,))
@triton.jit
def stride_of_two(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + 2 * i, mask=i < (n if BUG else n // 2), other=0)  # BUG
    tl.store(out + i, v)


@case("bounds", "before the start", lambda t: {"x": t(64), "out": t(64)}, "x", lane=0, lanes=1, at=(-1,))
@triton.jit
def before_the_start(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i - 1, mask=i >= (0 if BUG else 1), other=0)  # BUG
    tl.store(out + i, v)


@case("bounds", "negative stride", lambda t: {"x": t(50), "out": t(64), "n": 50}, "x", lane=0, lanes=1, at=(50,))
@triton.jit
def reversed_from_the_end(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + (n if BUG else n - 1) - i, mask=i < n, other=0)  # BUG
    tl.store(out + i, v)


@case("bounds", "negative stride", lambda t: {"x": t(50), "out": t(64), "n": 50}, "x", lane=50, lanes=14, at=(-1,))
@triton.jit
def reversed_past_the_start(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + n - 1 - i, mask=i < (64 if BUG else n), other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds",
    "stride is an argument",
    lambda t: {"x": t(64), "out": t(64), "first": 63, "stride": -2 if t.bug else -1},
    "x",
    lane=32,
    lanes=32,
    at=(-1,),
)
@triton.jit
def negative_stride_argument(x, out, first, stride, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + first + i * stride)  # BUG
    tl.store(out + i, v)


@case("bounds", "remainder", lambda t: {"x": t(40), "out": t(64), "n": 40}, "x", lane=35, lanes=1, at=(40,))
@triton.jit
def remainder_off_by_one(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + (i + 5) % (n + 1 if BUG else n))  # BUG
    tl.store(out + i, v)


@case(
    "bounds",
    "tensor of size 0",
    lambda t: {"x": t(0), "out": t(64), "n": 1 if t.bug else 0},
    "x",
    lane=0,
    lanes=1,
    at=(0,),
    action="suppress",
)
@triton.jit
def no_elements(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i < n, other=0)  # BUG
    tl.store(out + i, v)


@case("bounds", "tensor of 0 dimensions", lambda t: {"x": t(), "out": t(1)}, "x", lane=-1, lanes=1)
@triton.jit
def zero_dimensional(x, out, BUG: tl.constexpr):
    v = tl.load(x + (1 if BUG else 0))  # BUG
    tl.store(out, v)


@case("bounds", "scalars in a loop", lambda t: {"x": t(10), "out": t(1), "n": 10}, "x", lane=-1, lanes=1, at=(10,))
@triton.jit
def scalar_loop(x, out, n, BUG: tl.constexpr):
    total = 0.0
    for k in range(n + 1 if BUG else n):
        total += tl.load(x + k)  # BUG
    tl.store(out, total)


@case("bounds", "or instead of and", lambda t: {"x": t(50), "out": t(64), "n": 50}, "x", lane=50, lanes=14, at=(50,))
@triton.jit
def or_instead_of_and(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    inside = (i >= 4) | (i < n) if BUG else (i >= 4) & (i < n)
    v = tl.load(x + i, mask=inside, other=0)  # BUG
    tl.store(out + i, v)


@case("bounds", "nested masks", lambda t: {"x": t(40), "out": t(64), "n": 40}, "x", lane=40, lanes=12, at=(40,))
@triton.jit
def nested_masks(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    even = i % 2 == 0
    inside = even & (i < n) | (i == 3)
    if BUG:
        inside = even | inside & (i < n)
    v = tl.load(x + i, mask=inside, other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "mask from memory", lambda t: {"x": t(40), "flags": t(64, dtype=torch.int32), "out": t(64), "n": 40},
    "x", lane=42, lanes=7, at=(42,),
)  # fmt: skip
@triton.jit
def mask_from_memory(x, flags, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    chosen = tl.load(flags + i) < 3
    v = tl.load(x + i, mask=chosen & (i < (64 if BUG else n)), other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds",
    "pointer cast to a wider type",
    lambda t: {"x": t(128, dtype=torch.float16), "out": t(128)},
    "x",
    lane=64,
    lanes=64,
    at=(128,),
)
@triton.jit
def wider_type(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    wide = x.to(tl.pointer_type(tl.int32))
    v = tl.load(wide + i, mask=i < (128 if BUG else 64), other=0)  # BUG
    tl.store(out + i, v.to(tl.float32))


@case(
    "bounds",
    "a program too many",
    lambda t: {"x": t(128), "out": t(160)},
    "x",
    grid=(5,),
    program=(4,),
    lane=0,
    lanes=32,
    at=(128,),
)
@triton.jit
def program_too_many(x, out, BUG: tl.constexpr):
    pid = tl.program_id(0)
    i = (pid if BUG else tl.minimum(pid, 3)) * 32 + tl.arange(0, 32)
    v = tl.load(x + i)  # BUG
    tl.store(out + pid * 32 + tl.arange(0, 32), v)


@case("bounds", "int64 offsets", lambda t: {"x": t(100), "out": t(128), "n": 100}, "x", lane=100, lanes=28, at=(100,))
@triton.jit
def wide_offsets(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 128).to(tl.int64)
    v = tl.load(x + i, mask=(i < n) | BUG, other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds",
    "bytes",
    lambda t: {"x": t(61, dtype=torch.uint8), "out": t(64, dtype=torch.uint8), "n": 61},
    "x",
    lane=61,
    lanes=1,
    at=(61,),
)
@triton.jit
def odd_bytes(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=i <= (n if BUG else n - 1), other=0)  # BUG
    tl.store(out + i, v)
