# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Accesses to memory: masks, strides, tails, gathers, scatters, descriptors."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from support.linalg.kernels.cases import Pairs, case, cases, integers, normal, size


@triton.jit
def window(x, out, n, before, EVERY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) - before
    mask = (i >= 0) & (i < n) & (i % EVERY == 0)
    tl.store(out + i, tl.load(x + i, mask=mask), mask=mask)


@cases(every=[1, 3])
def window_every(rng: np.random.Generator, every: int) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(n)
    window[(triton.cdiv(n + 13, 64),)](x, out, n, 13, EVERY=every, BLOCK=64)
    yield out, torch.where(torch.arange(n) % every == 0, x, 0), 0


@triton.jit
def others(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=-7.5))
    tl.store(out + BLOCK + i, tl.load(x + i, mask=i < n, other=i.to(tl.float32)))


@case
def masked_off_is_other(rng: np.random.Generator) -> Pairs:
    n = size(rng, 64)
    x, out = normal(rng, n), torch.zeros(128)
    others[(1,)](x, out, n, BLOCK=64)
    yield out[:64], torch.cat([x, torch.full((64 - n,), -7.5)]), 0
    yield out[64:], torch.cat([x, torch.arange(n, 64).float()]), 0


@triton.jit
def strided(x, out, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i * 2, tl.load(x + i * stride, mask=i < n), mask=i < n)


@case
def strides(rng: np.random.Generator) -> Pairs:
    n, stride = size(rng, 64), int(rng.integers(2, 7))
    x, out = normal(rng, (n - 1) * stride + 1), torch.zeros(2 * n - 1)
    strided[(1,)](x, out, n, stride, BLOCK=64)
    expected = torch.zeros(2 * n - 1)
    expected[::2] = x[::stride]
    yield out, expected, 0


@triton.jit
def backwards(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + (n - 1 - i), mask=i < n), mask=i < n)


@case
def negative_stride(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, out = normal(rng, n), torch.zeros(n)
    backwards[(1,)](x, out, n, BLOCK=128)
    yield out, x.flip(0), 0


@triton.jit
def plane(x, out, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    j = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    mask = (i < rows) & (j < columns)
    tl.store(out + i * columns + j, tl.load(x + i * stride + j, mask=mask) * 2, mask=mask)


@case
def two_dimensions(rng: np.random.Generator) -> Pairs:
    m, n = size(rng, 40), size(rng, 70)
    x, out = normal(rng, m, n + 3), torch.zeros(m, n)
    plane[(triton.cdiv(m, 16), triton.cdiv(n, 32))](x, out, m, n, n + 3, M=16, N=32)
    yield out, x[:, :n] * 2, 0


@triton.jit
def transposed(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    value = tl.load(x + i[:, None] * columns + j[None, :], mask=mask)
    back = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(out + j[:, None] * rows + i[None, :], tl.trans(value), mask=back)


@case
def transpose(rng: np.random.Generator) -> Pairs:
    m, n = size(rng, 32), size(rng, 64)
    x, out = normal(rng, m, n), torch.zeros(n, m)
    transposed[(1,)](x, out, m, n, M=32, N=64)
    yield out, x.T, 0


@triton.jit
def cube(x, out, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A)[:, None, None]
    j = tl.arange(0, B)[None, :, None]
    k = tl.arange(0, C)[None, None, :]
    mask = (i < a) & (j < b) & (k < c)
    value = tl.load(x + (i * b + j) * c + k, mask=mask, other=0.0)
    tl.store(out + (i * b + j) * c + k, value + i, mask=mask)


@case
def three_dimensions(rng: np.random.Generator) -> Pairs:
    a, b, c = size(rng, 4), size(rng, 8), size(rng, 16)
    x, out = normal(rng, a, b, c), torch.zeros(a, b, c)
    cube[(1,)](x, out, a, b, c, A=4, B=8, C=16)
    yield out, x + torch.arange(a)[:, None, None], 0


@triton.jit
def scalar(x, out, n):
    value = tl.load(x + n, mask=n < 4, other=-1.0)
    tl.store(out, value)
    tl.store(out + 1, value, mask=n < 2)


@cases(n=[1, 3, 2**20])
def masked_scalars(rng: np.random.Generator, n: int) -> Pairs:
    x, out = normal(rng, 4), torch.zeros(2)
    scalar[(1,)](x, out, n)
    value = x[n] if n < 4 else torch.tensor(-1.0)
    yield out, torch.stack([value, value if n < 2 else torch.tensor(0.0)]), 0


@triton.jit
def far(x, out, offset, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int64)
    tl.store(out + i, tl.load(x + offset + i - offset))


@case
def offsets_of_64_bits(rng: np.random.Generator) -> Pairs:
    x, out = normal(rng, 16), torch.zeros(16)
    far[(1,)](x, out, 2**40, BLOCK=16)
    yield out, x, 0


@triton.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=2**30)
    tl.store(out + i, tl.load(x + at, mask=i < n, other=-1.0))


@cases(dtype=[torch.int8, torch.float16, torch.float32, torch.float64])
def gather_of(rng: np.random.Generator, dtype: torch.dtype) -> Pairs:
    n = size(rng, 64)
    x = integers(rng, 64, low=0).to(dtype)
    index = torch.from_numpy(rng.permutation(64)[:n].astype(np.int32))
    out = torch.zeros(128, dtype=dtype)
    gather[(1,)](x, index, out, n, BLOCK=128)
    yield out, torch.cat([x[index.long()], torch.full((128 - n,), -1, dtype=dtype)]), 0


@triton.jit
def scatter(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=2**30)
    tl.store(out + at, tl.load(x + i, mask=i < n), mask=i < n)


@case
def scatters(rng: np.random.Generator) -> Pairs:
    n = size(rng, 64)
    x, out, expected = normal(rng, n), torch.zeros(64), torch.zeros(64)
    index = torch.from_numpy(rng.permutation(64)[:n].astype(np.int32))
    scatter[(1,)](x, index, out, n, BLOCK=64)
    expected[index.long()] = x
    yield out, expected, 0


@triton.jit
def gather_rows(x, rows, out, n, D: tl.constexpr, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK), tl.arange(0, D)
    row = tl.load(rows + i, mask=i < n, other=0)
    value = tl.load(x + row[:, None] * D + j[None, :], mask=(i < n)[:, None])
    tl.store(out + i[:, None] * D + j[None, :], value, mask=(i < n)[:, None])


@case
def embedding(rng: np.random.Generator) -> Pairs:
    n = size(rng, 32)
    table, rows = normal(rng, 50, 16), integers(rng, n, low=0, high=50)
    out = torch.zeros(n, 16)
    gather_rows[(1,)](table, rows, out, n, D=16, BLOCK=32)
    yield out, table[rows.long()], 0


@triton.jit
def gather_in_registers(x, index, out, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    value, at = tl.load(x + i * N + j), tl.load(index + i * N + j)
    tl.store(out + i * N + j, tl.gather(value, at, AXIS))


@cases(axis=[0, 1])
def gather_along(rng: np.random.Generator, axis: int) -> Pairs:
    x, index = normal(rng, 16, 16), integers(rng, 16, 16, low=0, high=16)
    out = torch.zeros(16, 16)
    gather_in_registers[(1,)](x, index, out, N=16, AXIS=axis)
    yield out, x.gather(axis, index.long()), 0


@triton.jit
def tiles(x, y, m, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y, [m, n], [n, 1], [BLOCK, BLOCK])
    for i in range(0, m, BLOCK):
        for j in range(0, n, BLOCK):
            target.store([i, j], source.load([i, j]) * 2)


@case
def descriptors(rng: np.random.Generator) -> Pairs:
    m, n = size(rng, 40), 4 * size(rng, 10)
    x, y = normal(rng, m, n), torch.zeros(m, n)
    tiles[(1,)](x, y, m, n, BLOCK=16)
    yield y, x * 2, 0
