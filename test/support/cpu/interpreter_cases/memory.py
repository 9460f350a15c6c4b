# SPDX-License-Identifier: Apache-2.0
"""Loads, stores, descriptors and atomic operations."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from support.cpu.interpreter_cases.cases import (
    EVERY,
    N,
    Result,
    batch,
    case,
    empty,
    random,
)


@triton.jit
def masked(x, out, n, other, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if SIDE == "even":
        m = (i % 2 == 0) & (i < n)
    elif SIDE == "none":
        m = i < -1
    elif SIDE == "range":
        m = (i > 3) & (i < n - 7)
    else:
        m = i < n
    v = tl.load(x + i, mask=m, other=other)
    w = tl.load(x + i, mask=m)
    tl.store(out + i, v, mask=i < n)
    tl.store(out + n + i, w, mask=i < n)
    tl.store(out + 2 * n + i, v, mask=m)


@triton.jit
def masks(x, outs, n, other, SIDES: tl.constexpr, BLOCK: tl.constexpr):
    for k in tl.static_range(len(SIDES)):
        masked(x, outs[k], n, other, SIDES[k], BLOCK)


def run_masks(dtype: torch.dtype, sides: tuple[str, ...]) -> tuple[Result, ...]:
    outs = tuple(empty(dtype, 3 * N) for _ in sides)
    masks[(4,)](random(dtype, N), outs, N, 0 if dtype == torch.bfloat16 else 3, SIDES=sides, BLOCK=64)
    return outs


for _name, _type in EVERY.items():
    _sides = ("even", "none", "range", "tail")
    batch({f"mask-{_side}-{_name}": {} for _side in _sides}, run_masks, _type, _sides)


@triton.jit
def addressed(x, index, out, stride, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    strided = tl.load(x + m[:, None] * stride + k[None, :])
    turned = tl.load(x + m[:, None] + k[None, :] * stride, mask=(m[:, None] + k[None, :] * stride) < M * K, other=0)
    rows = tl.load(index + m)
    gathered = tl.load(x + rows[:, None] * K + k[None, :])
    one = tl.load(x + 5)
    back = tl.load(x + (M * K - 1 - (m[:, None] * K + k[None, :])))
    here = m[:, None] * K + k[None, :]
    tl.store(out + here, strided + turned)
    tl.store(out + M * K + rows[:, None] * K + k[None, :], gathered * 2)
    tl.store(out + 2 * M * K + (k[None, :] * M + m[:, None]), back + one)
    tl.store(out + 3 * M * K, one)


def run_addressed(dtype: torch.dtype) -> Result:
    index = torch.from_numpy(np.random.default_rng(3).permutation(16).astype(np.int32))
    result = empty(dtype, 3 * 16 * 32 + 1)
    addressed[(1,)](random(dtype, 16 * 32, small=True), index, result, 32, M=16, K=32)
    return result


for _name in ("int8", "int32", "int64", "float16", "float32", "float64"):
    case(f"addresses-{_name}", run_addressed, EVERY[_name])


@triton.jit
def descriptors(x, rows, out, M, K, BM: tl.constexpr, BK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, K], [K, 1], [BM, BK])
    target = tl.make_tensor_descriptor(out, [2 * M, K], [K, 1], [BM, BK])
    at = tl.program_id(0) * BM
    for column in range(0, K, BK):
        target.store([at, column], source.load([at, column]) * 2)
    edge = source.load([M - BM // 2, 0])  # half of it is outside
    end = out + 2 * M * K + tl.program_id(0) * BM * BK
    tl.store(end + tl.arange(0, BM)[:, None] * BK + tl.arange(0, BK)[None, :], edge)


def run_descriptors(dtype: torch.dtype) -> Result:
    m, k = 16, 32
    result = empty(dtype, 2 * m * k + 2 * 8 * 16)
    descriptors[(2,)](random(dtype, m, k, small=True), result, result, m, k, BM=8, BK=16)
    return result


@triton.jit
def descriptor_rows(source, target, rows, K: tl.constexpr, COUNT: tl.constexpr):
    r = tl.load(rows + tl.arange(0, COUNT))
    target.scatter(source.gather(r, 0) + 1, r, 16)


def run_descriptor_rows(dtype: torch.dtype) -> Result:
    x, out = random(dtype, 32, 16, small=True), empty(dtype, 32, 32)
    rows = torch.from_numpy(np.random.default_rng(3).permutation(32)[:8].astype(np.int32))
    descriptor_rows[(1,)](
        TensorDescriptor.from_tensor(x, [1, 16]), TensorDescriptor.from_tensor(out, [1, 16]), rows, K=16, COUNT=8
    )
    return out


for _name in ("int32", "float16", "float32"):
    case(f"descriptor-{_name}", run_descriptors, EVERY[_name])
    case(f"descriptor_rows-{_name}", run_descriptor_rows, EVERY[_name])


@triton.jit
def atomics(x, y, old, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(y + i, mask=m, other=0)
    if OP == "add":
        r = tl.atomic_add(x + i, v, mask=m)
    elif OP == "max":
        r = tl.atomic_max(x + i, v, mask=m)
    elif OP == "min":
        r = tl.atomic_min(x + i, v, mask=m)
    elif OP == "and":
        r = tl.atomic_and(x + i, v, mask=m)
    elif OP == "or":
        r = tl.atomic_or(x + i, v, mask=m, sem="relaxed")
    elif OP == "xor":
        r = tl.atomic_xor(x + i, v, mask=m, sem="release")
    elif OP == "xchg":
        r = tl.atomic_xchg(x + i, v, mask=m, scope="cta")
    else:
        r = tl.atomic_cas(x + i, tl.load(x + i), v)
    tl.store(old + i, r, mask=m)


@triton.jit
def each_atomic(xs, y, olds, n, OPS: tl.constexpr, BLOCK: tl.constexpr):
    for k in tl.static_range(len(OPS)):
        atomics(xs[k], y, olds[k], n, OPS[k], BLOCK)


def run_atomics(ops: tuple[str, ...], dtype: torch.dtype) -> tuple[Result, ...]:
    xs, olds = tuple(random(dtype, 64) for _ in ops), tuple(empty(dtype, 64) for _ in ops)
    each_atomic[(1,)](xs, random(dtype, 64, seed=1), olds, 60, OPS=ops, BLOCK=64)
    return tuple(zip(xs, olds, strict=True))


for _name in ("int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
    _ops = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
    if EVERY[_name].is_floating_point:  # the interpreter has no exchange of floats
        _ops = ("add", "max", "min") if _name == "float32" else ("add",)
    batch({f"atomic_{_op}-{_name}": {} for _op in _ops}, run_atomics, _ops, EVERY[_name])


@triton.jit
def contended(counter, total, BLOCK: tl.constexpr):
    tl.atomic_add(counter, 1)
    tl.atomic_add(total + tl.arange(0, BLOCK) % 4, tl.arange(0, BLOCK))


def run_contended() -> Result:
    counter, total = torch.zeros(1, dtype=torch.int64), torch.zeros(4, dtype=torch.int32)
    contended[(20,)](counter, total, BLOCK=32)
    return counter, total


case("atomic-contended", run_contended)
