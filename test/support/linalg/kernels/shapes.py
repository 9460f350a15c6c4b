# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Changes of shape and products of matrices."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from support.linalg.kernels.cases import Pairs, case, cases, integers, normal, size


@triton.jit
def shaping(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    joined = tl.join(a, b)
    left, right = tl.split(joined)
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(a, b))
    tl.store(out + 2 * N + i, left - right)
    tl.store(out + 3 * N + tl.arange(0, 2 * N), tl.cat(a, b, can_reorder=True))
    square = tl.permute(tl.reshape(a, (4, N // 4)), (1, 0))
    tl.store(out + 5 * N + i, tl.reshape(square, (N,)))


@case
def join_split_cat_reshape(rng: np.random.Generator) -> Pairs:
    x, y, out = normal(rng, 32), normal(rng, 32), torch.zeros(6 * 32)
    shaping[(1,)](x, y, out, N=32)
    yield out[:64], torch.stack([x, y], 1).flatten(), 0
    yield out[64:96], x - y, 0
    yield out[96:160], torch.cat([x, y]), 0
    yield out[160:], x.reshape(4, 8).T.flatten(), 0


@triton.jit
def spreading(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + i * N + j, tl.broadcast_to(tl.load(x + i), (M, N)) + tl.full((M, N), 3.0, tl.float32))


@case
def broadcast(rng: np.random.Generator) -> Pairs:
    x, out = normal(rng, 8), torch.zeros(8, 16)
    spreading[(1,)](x, out, M=8, N=16)
    yield out, x[:, None].expand(8, 16) + 3, 0


@triton.jit
def matmul(a, b, c, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    a_ptr = a + rows[:, None] * k + inner[None, :]
    b_ptr = b + inner[:, None] * n + columns[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BLOCK)):
        left = k - i * BLOCK
        x = tl.load(a_ptr, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0.0)
        y = tl.load(b_ptr, mask=(inner[:, None] < left) & (columns[None, :] < n), other=0.0)
        acc = tl.dot(x, y, acc)
        a_ptr += BLOCK
        b_ptr += BLOCK * n
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], acc, mask=mask)


@cases(dtype=[torch.float32, torch.float16])
def matmul_of(rng: np.random.Generator, dtype: torch.dtype) -> Pairs:
    m, n, k = size(rng, 50), size(rng, 50), size(rng, 70)
    a, b, c = normal(rng, m, k, dtype=dtype), normal(rng, k, n, dtype=dtype), torch.zeros(m, n)
    matmul[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a, b, c, m, n, k, BLOCK=16)
    yield c, (a.double() @ b.double()).float(), 1e-3


@triton.jit
def batched(a, b, c, B: tl.constexpr, N: tl.constexpr):
    z = tl.arange(0, B)[:, None, None] * (N * N)
    i, j = tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    at = z + i * N + j
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@case
def batched_matmul(rng: np.random.Generator) -> Pairs:
    a, b, c = normal(rng, 2, 16, 16), normal(rng, 2, 16, 16), torch.zeros(2, 16, 16)
    batched[(1,)](a, b, c, B=2, N=16)
    yield c, a @ b, 1e-4


@triton.jit
def product_of_bytes(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))


@case
def matmul_of_int8(rng: np.random.Generator) -> Pairs:
    a, b = (integers(rng, 32, 32, low=-128, high=128, dtype=torch.int8) for _ in range(2))
    c = torch.zeros(32, 32, dtype=torch.int32)
    product_of_bytes[(1,)](a, b, c, N=32)
    yield c, a.int() @ b.int(), 0
