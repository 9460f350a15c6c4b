# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Atomic operations."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from support.linalg.kernels.cases import Pairs, case, cases, integers, size


@triton.jit
def atomics(x, index, out, old, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    at = out + tl.load(index + i, mask=i < n, other=2**30)
    if OP == "add":
        r = tl.atomic_add(at, value, mask=i < n)
    elif OP == "max":
        r = tl.atomic_max(at, value, mask=i < n)
    elif OP == "min":
        r = tl.atomic_min(at, value, mask=i < n)
    elif OP == "and":
        r = tl.atomic_and(at, value, mask=i < n)
    elif OP == "or":
        r = tl.atomic_or(at, value, mask=i < n)
    elif OP == "xor":
        r = tl.atomic_xor(at, value, mask=i < n)
    else:
        r = tl.atomic_xchg(at, value, mask=i < n)
    tl.store(old + i, r, mask=i < n)


@triton.jit
def read_again(x, index, out, n, ATOMIC: tl.constexpr, GATHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = x + (tl.load(index + i, mask=i < n, other=0) if GATHER else i)
    a = tl.load(at, mask=i < n)
    if ATOMIC:
        tl.atomic_add(at, 1, mask=i < n)
    else:
        tl.store(at, a + 1, mask=i < n)
    tl.store(out + i, tl.load(at, mask=i < n) - a, mask=i < n)


@cases(how=["store", "atomic", "scatter", "atomic_scatter"])
def load_after_write(rng: np.random.Generator, how: str) -> Pairs:
    """Loads one place twice; the second load sees the store in between."""
    n = size(rng)
    x, out = integers(rng, n), torch.zeros(n, dtype=torch.int32)
    index = torch.from_numpy(rng.permutation(n)).to(torch.int32)
    grid = (triton.cdiv(n, 64),)
    read_again[grid](x, index, out, n, ATOMIC="atomic" in how, GATHER="scatter" in how, BLOCK=64)
    yield out, torch.ones(n, dtype=torch.int32), 0


_ATOMICS = {
    "add": lambda a, b: a + b,
    "max": max,
    "min": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xchg": lambda a, b: b,
}


@cases(op=list(_ATOMICS))
def atomic(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, index = integers(rng, n), integers(rng, n, low=0, high=8)
    out, old = integers(rng, 8), torch.zeros(n, dtype=torch.int32)
    expected, before = out.tolist(), []
    for value, at in zip(x.tolist(), index.tolist(), strict=True):
        before.append(expected[at])
        expected[at] = _ATOMICS[op](expected[at], value)
    atomics[(triton.cdiv(n, 64),)](x, index, out, old, n, OP=op, BLOCK=64)
    yield out, torch.tensor(expected, dtype=torch.int32), 0
    if op in ("add", "xchg"):
        yield old, torch.tensor(before, dtype=torch.int32), 0


@case
def atomic_add_of_floats(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, index = integers(rng, n).float(), integers(rng, n, low=0, high=8)
    out, old = torch.zeros(8), torch.zeros(n)
    atomics[(triton.cdiv(n, 64),)](x, index, out, old, n, OP="add", BLOCK=64)
    yield out, torch.zeros(8).index_add(0, index, x), 0


@triton.jit
def exchange(out, expected, value, old, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(old + i, tl.atomic_cas(out + i, tl.load(expected + i), tl.load(value + i)))
    tl.atomic_add(out + N, 5)


@case
def compare_and_swap(rng: np.random.Generator) -> Pairs:
    out, expected, value = (integers(rng, 33, low=0, high=2), *(integers(rng, 32, low=0, high=2) for _ in range(2)))
    before, old = out.clone(), torch.zeros(32, dtype=torch.int32)
    exchange[(1,)](out, expected, value, old, N=32)
    yield old, before[:32], 0
    yield out[:32], torch.where(before[:32] == expected, value, before[:32]), 0
    yield out[32:], before[32:] + 5, 0
