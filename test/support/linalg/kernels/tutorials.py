# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Kernels of tutorials and of models."""

from __future__ import annotations

import math

import numpy as np
import torch
import triton
import triton.language as tl
from torch.nn.functional import layer_norm as torch_layer_norm

from support.linalg.kernels.cases import Pairs, case, integers, normal, size


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    values = tl.load(x + row * stride + columns, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + columns, powers / tl.sum(powers, axis=0), mask=mask)


@case
def tutorial_softmax(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, out = normal(rng, 5, n), torch.zeros(5, n)
    softmax[(5,)](out, x, n, n, BLOCK=256)
    yield out, x.softmax(1), 1e-5


@triton.jit
def layer_norm(x, y, w, b, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * n
    y += row * n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x + columns, mask=columns < n, other=0.0)
    mean = tl.sum(total, axis=0) / n
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        value = tl.where(columns < n, tl.load(x + columns, mask=columns < n, other=0.0) - mean, 0.0)
        square += value * value
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        value = (tl.load(x + columns, mask=mask) - mean) * scale
        tl.store(y + columns, value * tl.load(w + columns, mask=mask) + tl.load(b + columns, mask=mask), mask=mask)


@case
def tutorial_layer_norm(rng: np.random.Generator) -> Pairs:
    n = size(rng) + 2
    x, w, b, y = normal(rng, 4, n), normal(rng, n), normal(rng, n), torch.zeros(4, n)
    layer_norm[(4,)](x, y, w, b, n, 1e-5, BLOCK=64)
    yield y, torch_layer_norm(x, (n,), w, b), 1e-4


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, value / (1 - p), 0.0), mask=i < n)


def philox(seed: int, n: int) -> np.ndarray:
    """Returns for each offset the first number of its Philox-4x32-10, in [0, 1)."""
    c = [np.arange(n, dtype=np.uint64), *(np.zeros(n, np.uint64) for _ in range(3))]
    k0, k1, low = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32), np.uint64(0xFFFFFFFF)
    for _ in range(10):
        b, a = np.uint64(0xCD9E8D57) * c[2], np.uint64(0xD2511F53) * c[0]
        c = [(b >> np.uint64(32)) ^ c[1] ^ k0, b & low, (a >> np.uint64(32)) ^ c[3] ^ k1, a & low]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    bits = c[0].astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -bits - 1, bits) * 4.6566127342e-10


@case
def tutorial_dropout(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(n)
    dropout[(triton.cdiv(n, 64),)](x, out, n, 0.5, 123, BLOCK=64)
    kept = torch.from_numpy(philox(123, n) > 0.5)
    yield out, torch.where(kept, x * 2, 0), 0


@triton.jit
def attention(q, k, v, out, scale, n, D: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.arange(0, BLOCK)
    dims = tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + dims[None, :], mask=rows[:, None] < n, other=0.0)
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, n, BLOCK):
        here = start + columns
        keys = tl.load(k + here[None, :] * D + dims[:, None], mask=here[None, :] < n, other=0.0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((rows[:, None] >= here[None, :]) & (here[None, :] < n), scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp(scores - new[:, None])
        factor = tl.exp(largest - new)
        total = total * factor + tl.sum(powers, 1)
        values = tl.load(v + here[:, None] * D + dims[None, :], mask=here[:, None] < n, other=0.0)
        acc = tl.dot(powers, values, acc * factor[:, None])
        largest = new
    tl.store(out + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=rows[:, None] < n)


@case
def tutorial_attention(rng: np.random.Generator) -> Pairs:
    n = size(rng, 70)
    q, k, v, out = *(normal(rng, n, 16) for _ in range(3)), torch.zeros(n, 16)
    attention[(triton.cdiv(n, 16),)](q, k, v, out, 0.25, n, D=16, BLOCK=16)
    scores = (q @ k.T * 0.25).masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
    yield out, scores.softmax(1) @ v, 1e-4


@triton.jit
def log_sum_exp(x, labels, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf"))
    largest = tl.max(values, 0)
    label = tl.load(labels + row)
    tl.store(out + row, tl.log(tl.sum(tl.exp(values - largest), 0)) + largest - tl.load(x + row * n + label))


@case
def cross_entropy(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, labels, out = normal(rng, 6, n), integers(rng, 6, low=0, high=n), torch.zeros(6)
    log_sum_exp[(6,)](x, labels, out, n, BLOCK=256)
    yield out, torch.nn.functional.cross_entropy(x, labels.long(), reduction="none"), 1e-4
