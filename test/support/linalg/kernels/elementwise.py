# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Elementwise operations and conversions."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from support.binary_kernel import binary
from support.linalg.kernels.cases import NOT_INTERPRETED, Pairs, case, cases, integers, normal, size

_BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "mod": torch.fmod,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 7),
    "shr": lambda a, b: a >> (b & 7),
    "max": torch.maximum,
    "min": torch.minimum,
    "where": lambda a, b: torch.where(a < b, a, b),
}


@cases(op=["add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "shl", "shr", "max"])
def binary_of_integers(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, y, out = integers(rng, n), integers(rng, n, low=1), torch.zeros(n, dtype=torch.int32)
    binary[(triton.cdiv(n, 64),)](x, y, out, n, OP=op, BLOCK=64)
    yield out, _BINARY[op](x, y), 0


@cases(op=["add", "div", "mod", "max", "min", "where"])
def binary_of_floats(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, y, out = normal(rng, n), normal(rng, n), torch.zeros(n)
    binary[(triton.cdiv(n, 64),)](x, y, out, n, OP=op, BLOCK=64)
    yield out, _BINARY[op](x, y), 0


@cases(dtype=[torch.int8, torch.int16, torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float64])
def add_of(rng: np.random.Generator, dtype: torch.dtype) -> Pairs:
    n = size(rng)
    x, y = integers(rng, n, low=0, high=50).to(dtype), integers(rng, n, low=0, high=50).to(dtype)
    out = torch.zeros(n, dtype=dtype)
    binary[(triton.cdiv(n, 64),)](x, y, out, n, OP="add", BLOCK=64)
    yield out, x + y, 0


NOT_INTERPRETED.add("add_of_bfloat16")  # the interpreter adds the bits


@triton.jit
def unary(x, out, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=1.0)
    if OP == "exp":
        r = tl.exp(a)
    elif OP == "log":
        r = tl.log(tl.abs(a))
    elif OP == "sqrt":
        r = tl.sqrt(tl.abs(a))
    elif OP == "sin":
        r = tl.sin(a)
    elif OP == "cos":
        r = tl.cos(a)
    elif OP == "erf":
        r = tl.erf(a)
    elif OP == "sigmoid":
        r = tl.sigmoid(a)
    elif OP == "floor":
        r = tl.floor(a)
    elif OP == "rsqrt":
        r = tl.rsqrt(tl.abs(a))
    else:
        r = tl.exp2(a)
    tl.store(out + i, r, mask=i < n)


_UNARY = {
    "exp": torch.exp,
    "log": lambda a: torch.log(a.abs()),
    "sqrt": lambda a: torch.sqrt(a.abs()),
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "sigmoid": torch.sigmoid,
    "floor": torch.floor,
    "rsqrt": lambda a: torch.rsqrt(a.abs()),
    "exp2": torch.exp2,
}


@cases(op=list(_UNARY))
def function(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(n)
    unary[(triton.cdiv(n, 64),)](x, out, n, OP=op, BLOCK=64)
    yield out, _UNARY[op](x), 1e-5


@triton.jit
def casts(x, half, whole, wide, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(half + i, a.to(tl.float16), mask=i < n)
    tl.store(whole + i, a.to(tl.int32), mask=i < n)
    tl.store(wide + i, a.to(tl.int32, bitcast=True).to(tl.int64), mask=i < n)


@case
def conversions(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x = normal(rng, n) * 100
    half, whole, wide = (torch.zeros(n, dtype=d) for d in (torch.float16, torch.int32, torch.int64))
    casts[(1,)](x, half, whole, wide, n, BLOCK=128)
    yield half, x.half(), 0
    yield whole, x.int(), 0
    yield wide, x.view(torch.int32).long(), 0


@triton.jit
def to_bf16(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n).to(tl.bfloat16), mask=i < n)


@case
def conversion_to_bf16(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, out = normal(rng, n), torch.zeros(n, dtype=torch.bfloat16)
    to_bf16[(1,)](x, out, n, BLOCK=128)
    yield out, x.bfloat16(), 0


NOT_INTERPRETED.add("conversion_to_bf16")  # the interpreter truncates


@triton.jit
def high_half(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.umulhi(tl.load(x + i, mask=i < n), tl.load(y + i, mask=i < n)), mask=i < n)


@case
def umulhi(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, y = (torch.from_numpy(rng.integers(0, 2**32, n, dtype=np.uint32).view(np.int32)) for _ in range(2))
    out = torch.zeros(n, dtype=torch.int32)
    high_half[(1,)](x, y, out, n, BLOCK=128)
    a, b = (t.numpy().view(np.uint32).astype(np.uint64) for t in (x, y))
    yield out, torch.from_numpy(((a * b) >> 32).astype(np.uint32).view(np.int32)), 0
