# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Reductions, scans, sorting and histograms."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl

from support.linalg.kernels.cases import NOT_INTERPRETED, Pairs, case, cases, integers, normal, size


@triton.jit
def xor_of(a, b):
    return a ^ b


@triton.jit
def and_of(a, b):
    return a & b


@triton.jit
def first_of(a, b):
    return a


@triton.jit
def reduction(x, out, n, OP: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + i * N + j)
    if OP == "sum":
        r = tl.sum(value, AXIS)
    elif OP == "max":
        r = tl.max(value, AXIS)
    elif OP == "min":
        r = tl.min(value, AXIS)
    elif OP == "xor":
        r = tl.reduce(value, AXIS, xor_of)
    elif OP == "and":
        r = tl.reduce(value, AXIS, and_of)
    elif OP == "first":
        r = tl.reduce(value, AXIS, first_of)
    elif OP == "argmax":
        r = tl.argmax(value, AXIS)
    else:
        r = tl.argmin(value, AXIS)
    tl.store(out + tl.arange(0, N if AXIS == 0 else M), r)


def _folded(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[torch.Tensor, int], torch.Tensor]:
    return lambda x, axis: torch.from_numpy(function.reduce(x.numpy(), axis=axis))  # type: ignore[attr-defined]


_REDUCTIONS = {
    "sum": lambda x, axis: x.sum(axis, dtype=torch.int32),
    "max": lambda x, axis: x.amax(axis),
    "min": lambda x, axis: x.amin(axis),
    "xor": _folded(np.bitwise_xor),
    "and": _folded(np.bitwise_and),
    "first": lambda x, axis: x.select(axis, 0),
    "argmax": lambda x, axis: torch.from_numpy(x.numpy().argmax(axis).astype(np.int32)),
    "argmin": lambda x, axis: torch.from_numpy(x.numpy().argmin(axis).astype(np.int32)),
}


@cases(op=list(_REDUCTIONS))
def reduce_by(rng: np.random.Generator, op: str) -> Pairs:
    x = integers(rng, 8, 32)
    for axis in (0, 1):
        out = torch.zeros(32 if axis == 0 else 8, dtype=torch.int32)
        reduction[(1,)](x, out, 0, OP=op, AXIS=axis, M=8, N=32)
        yield out, _REDUCTIONS[op](x, axis), 0


NOT_INTERPRETED.add("reduce_by_first")  # the interpreter has another order


@triton.jit
def extremes(x, out, at, OP: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + i * N + j)
    if OP == "max":
        r, where = tl.max(value, AXIS, return_indices=True)
    else:
        r, where = tl.min(value, AXIS, return_indices=True)
    k = tl.arange(0, N if AXIS == 0 else M)
    tl.store(out + k, r)
    tl.store(at + k, where)


@cases(op=["max", "min"])
def first_of_ties(rng: np.random.Generator, op: str) -> Pairs:
    for dtype, axis in itertools.product((torch.int32, torch.float32), (0, 1)):
        x = integers(rng, 8, 32, low=-1, high=2).to(dtype)
        out, at = (torch.zeros(32 if axis == 0 else 8, dtype=kind) for kind in (dtype, torch.int32))
        extremes[(1,)](x, out, at, OP=op, AXIS=axis, M=8, N=32)
        where = (np.argmax if op == "max" else np.argmin)(x.numpy(), axis)  # the first one
        yield at, torch.from_numpy(where.astype(np.int32)), 0
        yield out, x.amax(axis) if op == "max" else x.amin(axis), 0


@triton.jit
def dual_product(a0, b0, a1, b1):
    return a0 * a1, a0 * b1 + b0 * a1


@triton.jit
def dual_products(a, b, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    p, q = tl.reduce((tl.load(a + at), tl.load(b + at)), 1, dual_product)
    tl.store(out + tl.arange(0, M), p)
    tl.store(out + M + tl.arange(0, M), q)


@case
def reduction_of_two_inputs(rng: np.random.Generator) -> Pairs:
    a, b = integers(rng, 8, 16, low=-3, high=4), integers(rng, 8, 16, low=-3, high=4)
    out, (p, q) = torch.zeros(2, 8, dtype=torch.int32), (a[:, 0], b[:, 0])
    dual_products[(1,)](a, b, out, M=8, N=16)
    for column in range(1, 16):
        p, q = p * a[:, column], p * b[:, column] + q * a[:, column]
    yield out, torch.stack([p, q]), 0


@triton.jit
def sum_of_floats(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out, tl.sum(value))
    tl.store(out + 1, tl.max(tl.where(i < n, value, float("-inf"))))


@case
def reduce_floats(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(2)
    sum_of_floats[(1,)](x, out, n, BLOCK=256)
    yield out, torch.stack([x.sum(), x.max()]), 1e-4


@triton.jit
def add_of_two(a, b):
    return a + b


@triton.jit
def scan(x, out, OP: tl.constexpr, REVERSE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + i * N + j)
    if OP == "cumsum":
        r = tl.cumsum(value, 1, reverse=REVERSE)
    elif OP == "cumprod":
        r = tl.cumprod(value, 0, reverse=REVERSE)
    else:
        r = tl.associative_scan(value, 1, tl.standard._elementwise_max, reverse=REVERSE)
    tl.store(out + i * N + j, r)


@cases(op=["cumsum", "cumprod", "cummax"])
def scan_by(rng: np.random.Generator, op: str) -> Pairs:
    x = integers(rng, 4, 16, low=-5, high=5)
    along = {
        "cumsum": lambda v: v.cumsum(1, dtype=torch.int32),
        "cumprod": lambda v: v.cumprod(0, dtype=torch.int32),
        "cummax": lambda v: v.cummax(1).values,
    }[op]
    dim = 0 if op == "cumprod" else 1
    for reverse in (False, True):
        out = torch.zeros(4, 16, dtype=torch.int32)
        scan[(1,)](x, out, OP=op, REVERSE=reverse, M=4, N=16)
        yield out, along(x.flip(dim)).flip(dim) if reverse else along(x), 0


@triton.jit
def recurrence_of(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def recurrence(a, b, out, REVERSE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    _, r = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, recurrence_of, reverse=REVERSE)
    tl.store(out + i, r)


@case
def scan_of_two_inputs(rng: np.random.Generator) -> Pairs:
    a, b = integers(rng, 32, low=-2, high=3), integers(rng, 32)
    for reverse in (False, True):
        out, expected, value = torch.zeros(32, dtype=torch.int32), torch.zeros(32, dtype=torch.int32), np.int32(0)
        recurrence[(1,)](a, b, out, REVERSE=reverse, N=32)
        with np.errstate(over="ignore"):
            for k in reversed(range(32)) if reverse else range(32):
                value = value * a.numpy()[k] + b.numpy()[k]
                expected[k] = int(value)
        yield out, expected, 0


@triton.jit
def sorting(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(out + i, tl.sort(value))
    tl.store(out + N + i, tl.flip(value))


@case
def sort_and_flip(rng: np.random.Generator) -> Pairs:
    x, out = integers(rng, 32), torch.zeros(64, dtype=torch.int32)
    sorting[(1,)](x, out, N=32)
    yield out, torch.cat([x.sort().values, x.flip(0)]), 0


@triton.jit
def counting(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + tl.arange(0, BINS), tl.histogram(value, BINS, mask=i < n))


@case
def histogram(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, out = integers(rng, n, low=0, high=16), torch.zeros(16, dtype=torch.int32)
    counting[(1,)](x, out, n, BLOCK=128, BINS=16)
    yield out, torch.bincount(x, minlength=16).int(), 0
