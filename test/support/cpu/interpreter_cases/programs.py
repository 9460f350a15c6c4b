# SPDX-License-Identifier: Apache-2.0
"""Control flow, grids, random numbers, and a whole kernel."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from support.cpu.interpreter_cases.cases import (
    EPSILON,
    EVERY,
    Result,
    case,
    empty,
    random,
)


@triton.jit(noinline=True)
def step(a, b):
    return a * 3 + b, a - b


@triton.jit
def control(x, out, n, flag):
    p = tl.program_id(0)
    if p >= n:
        return
    total = tl.load(x + p)
    for k in range(p):
        v = tl.load(x + k)
        if v > 0:
            total += v
        elif v < -50:
            total -= 2 * v
        else:
            total, v = step(total, v)
    i = 0
    while i < 5 and total > 10:
        total = total // 2
        i += 1
    pair = (total, i)
    if flag:
        pair = (pair[0] + 1, pair[1] + p)
    tl.store(out + 2 * p, pair[0])
    tl.store(out + 2 * p + 1, pair[1])


def run_control(flag: bool) -> Result:
    out = torch.zeros(40, dtype=torch.int32)
    control[(20,)](random(torch.int32, 20, small=True), out, 17, flag)
    return out


case("control", run_control, False)
case("control-flag", run_control, True)


@triton.jit
def carried(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    b = a * 2
    for k in range(n):
        a, b = b, a + b
        if k % 2 == 0:
            a = a - 1
    tl.store(out + i, a)
    tl.store(out + BLOCK + i, b)


def run_carried() -> Result:
    out = torch.zeros(64, dtype=torch.int32)
    carried[(1,)](random(torch.int32, 32, small=True), out, 7, BLOCK=32)
    return out


case("carried", run_carried)


@triton.jit
def grid(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out + (z * ny + y) * nx + x, x + 10 * y + 100 * z + 1000 * nz)


def run_grid() -> Result:
    out = torch.zeros(4, 3, 2, dtype=torch.int32)
    grid[(2, 3, 4)](out)
    return out


case("grid", run_grid)


@triton.jit
def randomness(out, seed, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if OP == "rand":
        r = tl.rand(seed, i)
    elif OP == "randn":
        r = tl.randn(seed, i)
    elif OP == "randint":
        r = tl.randint(seed, i)
    else:
        a, b, c, d = tl.randint4x(seed, i)
        r = a ^ b ^ c ^ d
    tl.store(out + i, r.to(out.dtype.element_ty, bitcast=out.dtype.element_ty == tl.int32))


def run_randomness(op: str, dtype: torch.dtype) -> Result:
    out = empty(dtype, 128)
    randomness[(1,)](out, 42, OP=op, BLOCK=128)
    return out


case("rand", run_randomness, "rand", torch.float32)
case("randn", run_randomness, "randn", torch.float32, rtol=1e-5, atol=1e-6)
case("randint", run_randomness, "randint", torch.int32)
case("randint4x", run_randomness, "randint4x", torch.int32)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    v = tl.load(x + row + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row + i, (e / tl.sum(e, 0)).to(out.dtype.element_ty), mask=i < columns)


def run_softmax(dtype: torch.dtype) -> Result:
    out = empty(dtype, 5, 100)
    softmax[(5,)](random(dtype, 5, 100), out, 100, BLOCK=128)
    return out


for _name in ("float16", "bfloat16", "float32"):
    case(f"softmax-{_name}", run_softmax, EVERY[_name], rtol=max(2 * EPSILON[_name], 1e-6))
