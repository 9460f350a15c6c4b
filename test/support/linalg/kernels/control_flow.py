# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Loops, branches and functions."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from support.linalg.kernels.cases import Pairs, case, cases, integers, normal, size


@triton.jit
def collatz(x, out, n):
    i = tl.program_id(0)
    value = tl.load(x + i)
    steps = 0
    while value != 1:
        if value % 2 == 0:  # noqa: SIM108 - a branch of Triton
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out + i, steps)


@case
def while_and_if(rng: np.random.Generator) -> Pairs:
    x, out = integers(rng, 8, low=1, high=60), torch.zeros(8, dtype=torch.int32)
    collatz[(8,)](x, out, 8)

    def steps(value: int) -> int:
        return 0 if value == 1 else 1 + steps(value // 2 if value % 2 == 0 else 3 * value + 1)

    yield out, torch.tensor([steps(v) for v in x.tolist()], dtype=torch.int32), 0


@triton.jit
def chosen(x, y, out, flag, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if flag > 0:
        source = x + i
        if flag > 1:
            source = x + 2 * i
    else:
        source = y + i
    tl.store(out + i, tl.load(source, mask=i < n), mask=i < n)


@cases(flag=[0, 2, 3])
def pointers_of_branches(rng: np.random.Generator, flag: int) -> Pairs:
    n = size(rng, 64)
    x, y, out = normal(rng, 2 * n), normal(rng, n), torch.zeros(n)
    chosen[(1,)](x, y, out, flag, n, BLOCK=64)
    yield out, x[::2] if flag else y, 0


@triton.jit
def early(x, n):
    if n == 0:
        return
    while n > 1:
        tl.store(x, n)
        x += 2
        n //= 2


@cases(n=[0, 3, 17])
def early_return(rng: np.random.Generator, n: int) -> Pairs:
    out, expected = torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    early[(1,)](out, n)
    at = 0
    while n > 1:
        expected[at], at, n = n, at + 2, n // 2
    yield out, expected, 0


@triton.jit
def wandering(x, out, n, BLOCK: tl.constexpr):
    source = x + tl.arange(0, BLOCK)
    target = out + tl.arange(0, BLOCK)
    left = n
    while left > 0:
        tl.store(target, tl.load(source, mask=tl.arange(0, BLOCK) < left) + 1, mask=tl.arange(0, BLOCK) < left)
        source += BLOCK
        target += BLOCK
        left -= BLOCK


@cases(n=[0, 5, 40])
def pointers_of_a_while_loop(rng: np.random.Generator, n: int) -> Pairs:
    x, out = integers(rng, n + 1)[:n], torch.zeros(n, dtype=torch.int32)
    wandering[(1,)](x, out, n, BLOCK=16)
    yield out, x + 1, 0


@triton.jit
def around(x, out, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i % SIZE))


@cases(block=[16, 64])
def remainders(rng: np.random.Generator, block: int) -> Pairs:
    """In groups of 16 the accesses are views; 64 wraps around between two elements."""
    x, out = integers(rng, 32), torch.zeros(128, dtype=torch.int32)
    around[(128 // block,)](x, out, SIZE=32, BLOCK=block)
    yield out, x.repeat(4), 0


@triton.jit
def copied_in_order(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first = tl.load(x + i)
    tl.store(x + i, first + 1)
    second = tl.load(x + i)
    tl.store(x + BLOCK + i, first)
    tl.store(x + 2 * BLOCK + i, second)
    for k in range(n):
        tl.store(x + i, tl.load(x + i) * 2 + k)


@case
def loads_and_stores_in_order(rng: np.random.Generator) -> Pairs:
    x = torch.cat([integers(rng, 16), torch.zeros(32, dtype=torch.int32)])
    first = x[:16].clone()
    copied_in_order[(1,)](x, 3, BLOCK=16)
    last = first + 1
    for k in range(3):
        last = last * 2 + k
    yield x, torch.cat([last, first, first + 1]), 0


@triton.jit
def helper(x, y):
    return x * y + 1, x - y


@triton.jit(noinline=True)
def not_inlined(x, y):
    return x * y + tl.program_id(0)


@triton.jit
def calling(out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = helper(i, 3)
    tl.store(out + tl.program_id(0) * BLOCK + i, a + b + not_inlined(tl.program_id(0), 5))


@case
def calls(rng: np.random.Generator) -> Pairs:
    out = torch.zeros(3, 16, dtype=torch.int32)
    calling[(3,)](out, BLOCK=16)
    i, p = torch.arange(16), torch.arange(3)[:, None]
    yield out, ((i * 3 + 1) + (i - 3) + p * 5 + p).int(), 0


@triton.jit
def where_am_i(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out + at, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))


@case
def grid_of_three_dimensions(rng: np.random.Generator) -> Pairs:
    out = torch.zeros(4, 3, 2, dtype=torch.int32)
    where_am_i[(2, 3, 4)](out)
    z, y, x = torch.meshgrid(torch.arange(4), torch.arange(3), torch.arange(2), indexing="ij")
    yield out, (x + 10 * y + 100 * z + 4000).int(), 0
