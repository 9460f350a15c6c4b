# SPDX-License-Identifier: Apache-2.0
"""Arithmetic without a defined result, and the first NaN or Inf that is made from finite numbers."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from support.sanitizer.cases import case

_I32 = torch.int32


@case("arith", "scalar divided by 0", lambda t: {"out": t(1, dtype=_I32), "n": 0 if t.bug else 3, "m": 7}, lane=-1)
@triton.jit
def division_of_scalars(out, n, m, BUG: tl.constexpr):
    tl.store(out, m // n)  # BUG


@case(
    "arith", "tile divided by a loaded 0",
    lambda t: {"x": t(64, dtype=_I32, data=[i % 5 + (not t.bug) for i in range(64)]), "out": t(64, dtype=_I32)},
    lane=0, lanes=13,
)  # fmt: skip
@triton.jit
def division_of_a_tile(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    tl.store(out + i, 100 // v)  # BUG


@case(
    "arith", "remainder of 0",
    lambda t: {"x": t(64, dtype=torch.int64, data=[i - (31 if t.bug else 70) for i in range(64)]),
               "out": t(64, dtype=torch.int64)},
    lane=31, lanes=1,
)  # fmt: skip
@triton.jit
def remainder_of_zero(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, 77 % tl.load(x + i))  # BUG


@case(
    "arith", "shift left past the width",
    lambda t: {"x": t(64, dtype=_I32, data=[i // (1 if t.bug else 2) for i in range(64)]), "out": t(64, dtype=_I32)},
    lane=32, lanes=32,
)  # fmt: skip
@triton.jit
def shift_left(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, 1 << tl.load(x + i))  # BUG


@case(
    "arith", "shift right by a negative number",
    lambda t: {"x": t(64, dtype=_I32, data=[i % 8 - (i == 9) * 2 * t.bug for i in range(64)]),
               "out": t(64, dtype=_I32)},
    lane=9, lanes=1,
)  # fmt: skip
@triton.jit
def shift_right(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, 1000 >> tl.load(x + i))  # BUG


@case(
    "arith", "1 / 0", lambda t: {"x": t(64, data=[float(i - (20 if t.bug else 64)) for i in range(64)]), "out": t(64)},
    lane=20, lanes=1,
)  # fmt: skip
@triton.jit
def one_over_zero(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, 1.0 / tl.load(x + i))  # BUG


@case(
    "arith", "0 / 0, in a normalisation",
    lambda t: {"x": t(4, 16, data=[(i // 16 != 2 * t.bug) * 1.0 for i in range(64)]), "out": t(4, 16)},
    grid=(4,), program=(2,), lane=0, lanes=16,
)  # fmt: skip
@triton.jit
def zero_over_zero(x, out, BUG: tl.constexpr):
    at = tl.program_id(0) * 16 + tl.arange(0, 16)
    v = tl.load(x + at)
    total = tl.sum(v, 0) if BUG else tl.sum(v, 0) + 1e-6
    tl.store(out + at, v / total)  # BUG


@case(
    "arith", "exp of a large number", lambda t: {"x": t(64, data=[i * (2.0 if t.bug else 1.0) for i in range(64)]),
                                                 "out": t(64)},
    lane=45, lanes=19,
)  # fmt: skip
@triton.jit
def large_exp(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.exp(tl.load(x + i)))  # BUG


@case(
    "arith", "log of a negative number", lambda t: {"x": t(64, data=[i - 5.5 if t.bug else i + 1.0 for i in range(64)]),
                                                    "out": t(64)},
    lane=0, lanes=6,
)  # fmt: skip
@triton.jit
def negative_log(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.log(tl.load(x + i)))  # BUG


@case(
    "arith", "root of a variance below 0",
    lambda t: {"x": t(64, data=[float(i - 3 * t.bug) for i in range(64)]), "out": t(64)},
    lane=0, lanes=3,
)  # fmt: skip
@triton.jit
def negative_root(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.sqrt(tl.load(x + i)))  # BUG


@case(
    "arith", "product in half precision",
    lambda t: {"x": t(64, dtype=torch.float16, data=[i * (8.0 if t.bug else 1.0) for i in range(64)]),
               "out": t(64, dtype=torch.float16)},
    lane=32, lanes=32,
)  # fmt: skip
@triton.jit
def product_of_halves(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    tl.store(out + i, v * v)  # BUG


@case(
    "arith", "rounded to half precision",
    lambda t: {"x": t(64, data=[i * (1100.0 if t.bug else 1000.0) for i in range(64)]),
               "out": t(64, dtype=torch.float16)},
    lane=60, lanes=4,
)  # fmt: skip
@triton.jit
def rounded_to_half(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.float16))  # BUG


@case(
    "arith", "float to int out of range",
    lambda t: {"x": t(64, data=[i * (4e7 if t.bug else 1e7) for i in range(64)]), "out": t(64, dtype=_I32)},
    lane=54, lanes=10,
)  # fmt: skip
@triton.jit
def float_to_int(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.int32))  # BUG


@case(
    "arith", "float to int8", lambda t: {"x": t(64, data=[i * 4.0 - (0 if t.bug else 128) for i in range(64)]),
                                         "out": t(64, dtype=torch.int8)},
    lane=32, lanes=32,
)  # fmt: skip
@triton.jit
def float_to_byte(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.int8))  # BUG


@case(
    "arith", "reciprocal root of 0", lambda t: {"x": t(64, data=[float(i + (not t.bug)) for i in range(64)]),
                                                "out": t(64)},
    lane=0, lanes=1,
)  # fmt: skip
@triton.jit
def reciprocal_root(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.rsqrt(tl.load(x + i)))  # BUG


@case(
    "arith", "accumulated in a loop", lambda t: {"x": t(8, 16, data=[1e38 if t.bug else 1e37] * 128), "out": t(16)},
    lane=0,
)  # fmt: skip
@triton.jit
def accumulated_to_infinity(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 16)
    total = tl.zeros((16,), tl.float32)
    for row in range(8):
        total += tl.load(x + row * 16 + i)  # BUG
    tl.store(out + i, total)
