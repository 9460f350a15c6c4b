# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, sorting, and operations that move elements between lanes."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.keeps_kernels

SHAPES = [(1, 64), (4, 8), (16, 128), (64, 2), (128, 16), (2, 64), (8, 1), (256, 4)]


@triton.jit
def reduce(x, out, index, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, OP: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    size: tl.constexpr = N if AXIS == 0 else M
    i = tl.arange(0, size)
    if OP == "sum":
        tl.store(out + i, tl.sum(v, AXIS))
    elif OP == "max":
        best, where = tl.max(v, AXIS, return_indices=True)
        tl.store(out + i, best)
        tl.store(index + i, where)
    else:
        best, where = tl.min(v, AXIS, return_indices=True)
        tl.store(out + i, best)
        tl.store(index + i, where)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float64], ids=str)
def test_reduce(shape: tuple[int, int], axis: int, op: str, dtype: torch.dtype) -> None:
    x = torch.randint(-20, 20, shape).to(dtype)
    out = torch.zeros(shape[1 - axis], dtype=dtype)
    index = torch.zeros(shape[1 - axis], dtype=torch.int32)
    reduce[(1,)](x, out, index, M=shape[0], N=shape[1], AXIS=axis, OP=op)
    if op == "sum":
        assert torch.equal(out, x.sum(axis, dtype=dtype))
    else:
        best = x.amax(axis) if op == "max" else x.amin(axis)
        assert torch.equal(out, best)
        # The index is that of the first of equal elements.
        hits = x == best.unsqueeze(axis)
        assert torch.equal(index.long(), hits.int().argmax(axis))


@triton.jit
def weighted(mean_a, weight_a, mean_b, weight_b):
    weight = weight_a + weight_b
    return (mean_a * weight_a + mean_b * weight_b) / weight, weight


@triton.jit
def custom_reduce(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    mean, weight = tl.reduce((v, tl.full((N,), 1.0, tl.float32)), 0, weighted)
    tl.store(out, mean)
    tl.store(out + 1, weight)


@pytest.mark.parametrize("n", [1, 2, 16, 64, 1024])
def test_custom_reduce(n: int) -> None:
    x, out = torch.randn(n), torch.zeros(2)
    custom_reduce[(1,)](x, out, N=n)
    torch.testing.assert_close(out, torch.tensor([x.mean(), n]))


@triton.jit
def scan(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, OP: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    if OP == "sum":
        r = tl.cumsum(v, AXIS, reverse=REVERSE)
    else:
        r = tl.cumprod(v, AXIS, reverse=REVERSE)
    tl.store(out + at, r)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op", ["sum", "prod"])
def test_scan(shape: tuple[int, int], axis: int, reverse: bool, op: str) -> None:
    x = torch.randint(-9, 9, shape).float() if op == "sum" else 1 - 2 * torch.randint(0, 2, shape).float()
    out = torch.zeros_like(x)
    scan[(1,)](x, out, M=shape[0], N=shape[1], AXIS=axis, REVERSE=reverse, OP=op)
    y = x.flip(axis) if reverse else x
    expected = y.cumsum(axis) if op == "sum" else y.cumprod(axis)
    assert torch.equal(out, expected.flip(axis) if reverse else expected)


@triton.jit
def affine(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def recurrence(a, b, out, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, affine, reverse=REVERSE)
    tl.store(out + i, h)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_that_does_not_commute(reverse: bool) -> None:
    a, b, out = torch.rand(128), torch.randn(128), torch.zeros(128)
    recurrence[(1,)](a, b, out, N=128, REVERSE=reverse)
    h, expected = 0.0, torch.zeros(128)
    for i in reversed(range(128)) if reverse else range(128):
        h = a[i].item() * h + b[i].item()
        expected[i] = h
    torch.testing.assert_close(out, expected)


@triton.jit
def sort(x, out, N: tl.constexpr, DESCENDING: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.sort(tl.load(x + i), descending=DESCENDING))


@triton.jit
def topk(x, out, N: tl.constexpr, K: tl.constexpr):
    tl.store(out + tl.arange(0, K), tl.topk(tl.load(x + tl.arange(0, N)), K))


SORTS = [(n, dtype) for n in (2, 16, 64) for dtype in (torch.float32, torch.int32, torch.int64, torch.float16)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "dtype"), [*SORTS, (256, torch.float32)], ids=str)
def test_sort(n: int, dtype: torch.dtype) -> None:
    x = (torch.randn(n) * 100).to(dtype)
    for descending in (False, True):
        out = torch.zeros(n, dtype=dtype)
        sort[(1,)](x, out, N=n, DESCENDING=descending)
        assert torch.equal(out, x.sort(descending=descending)[0])
    if n >= 16:
        out = torch.zeros(8, dtype=dtype)
        topk[(1,)](x, out, N=n, K=8)
        assert torch.equal(out, x.sort(descending=True)[0][:8])


@triton.jit
def moves(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    twice = tl.arange(0, 2 * N)
    half = tl.arange(0, N // 2)
    v = tl.load(x + i)
    tl.store(out + i, tl.reshape(tl.permute(tl.reshape(v, (N // 4, 4)), (1, 0)), (N,)))
    tl.store(out + N + twice, tl.interleave(v, v * 2))
    left, right = tl.split(tl.reshape(v, (N // 2, 2)))
    tl.store(out + 3 * N + half, left)
    tl.store(out + 3 * N + N // 2 + half, right)
    tl.store(out + 4 * N + i, tl.flip(v))
    tl.store(out + 5 * N + twice, tl.cat(v, v + 1))
    cube = tl.permute(tl.reshape(v, (2, N // 4, 2)), (2, 0, 1))
    tl.store(out + 7 * N + i, tl.reshape(cube, (N,)))


@pytest.mark.parametrize("n", [4, 8, 16, 64, 512])
def test_moves(n: int) -> None:
    x, out = torch.randn(n), torch.zeros(8 * n)
    moves[(1,)](x, out, N=n)
    expected = [
        x.reshape(n // 4, 4).t().reshape(-1),
        torch.stack([x, 2 * x], 1).reshape(-1),
        x[0::2],
        x[1::2],
        x.flip(0),
        x,
        x + 1,
        x.reshape(2, n // 4, 2).permute(2, 0, 1).reshape(-1),
    ]
    assert torch.equal(out, torch.cat(expected))


@triton.jit
def gather(x, index, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), AXIS))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(4, 8), (32, 16), (16, 64)], ids=str)
def test_gather(shape: tuple[int, int], axis: int) -> None:
    x = torch.randn(shape)
    index = torch.randint(0, shape[axis], shape, dtype=torch.int32)
    out = torch.zeros(shape)
    gather[(1,)](x, index, out, M=shape[0], N=shape[1], AXIS=axis)
    assert torch.equal(out, x.gather(axis, index.long()))


@triton.jit
def histogram(x, out, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + tl.arange(0, BINS), tl.histogram(v, BINS, mask=i < n))


def test_histogram() -> None:
    x = torch.randint(0, 16, (100,), dtype=torch.int32)
    out = torch.zeros(16, dtype=torch.int32)
    histogram[(1,)](x, out, 100, N=128, BINS=16)
    assert torch.equal(out.long(), torch.bincount(x, minlength=16))


@triton.jit
def broadcast_chain(x, y, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x + i[:, None] * N + j[None, :])
    c = tl.load(y + j[:, None] * K + k[None, :])
    product = tl.sum(a[:, :, None] * c[None, :, :], 1)
    tl.store(out + i[:, None] * K + k[None, :], product + tl.max(product, 1)[:, None])


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(*(st.sampled_from([1, 2, 4, 8, 16, 32]) for _ in range(3)))
def test_three_dimensions(m: int, n: int, k: int) -> None:
    x, y, out = torch.randn(m, n), torch.randn(n, k), torch.zeros(m, k)
    broadcast_chain[(1,)](x, y, out, M=m, N=n, K=k)
    product = x @ y
    torch.testing.assert_close(out, product + product.amax(1, keepdim=True), atol=1e-4, rtol=1e-4)
