# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG001, N803, PLR0917
"""The kernels of cpu.py and linalg.py."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def empty_kernel(x):
    pass


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def silu_mul_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v * tl.sigmoid(v) * tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    v = tl.load(x + row + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row + i, e / tl.sum(e, 0), mask=i < columns)


@triton.jit
def layer_norm_kernel(x, w, b, out, columns, eps, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    mask = i < columns
    v = tl.load(x + row + i, mask=mask, other=0.0)
    mean = tl.sum(v, 0) / columns
    d = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / columns + eps)
    tl.store(out + row + i, (v - mean) * scale * tl.load(w + i, mask=mask) + tl.load(b + i, mask=mask), mask=mask)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    m = (pid // columns) * BM + tl.arange(0, BM)
    n = (pid % columns) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc, out_dtype=acc.dtype)
        pa += BK
        pb += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def transposed_matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The product of a and the transpose of b."""
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    m = (pid // columns) * BM + tl.arange(0, BM)
    n = (pid % columns) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + n[None, :] * K + k[:, None]
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc, out_dtype=acc.dtype)
        pa += BK
        pb += BK
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def scaled_matmul_kernel(
    a, a_scales, b, b_scales, c, M, N, K, FORMAT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Stores (a times its scales) @ (b times its scales) to c; a scale is for 32 elements along K."""
    in_byte: tl.constexpr = 2 if FORMAT == "e2m1" else 1
    rows = tl.cdiv(M, BM)
    m, n = tl.program_id(0) % rows * BM + tl.arange(0, BM), tl.program_id(0) // rows * BN + tl.arange(0, BN)
    k, groups = tl.arange(0, BK // in_byte), tl.arange(0, BK // 32)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + m[:, None] * (K // in_byte) + (start // in_byte + k)[None, :])
        y = tl.load(b + (start // in_byte + k)[:, None] * N + n[None, :])
        x_scales = tl.load(a_scales + m[:, None] * (K // 32) + (start // 32 + groups)[None, :])
        y_scales = tl.load(b_scales + n[:, None] * (K // 32) + (start // 32 + groups)[None, :])
        total = tl.dot_scaled(x, x_scales, FORMAT, y, y_scales, FORMAT, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def wrapped_matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WRAPS: tl.constexpr):
    """The product of Triton's tutorial: rows and columns wrap around, and K is masked."""
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    m = (pid // columns) * BM + tl.arange(0, BM)
    n = (pid % columns) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + (m % M if WRAPS else m)[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + (n % N if WRAPS else n)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(pa, mask=k[None, :] < K - start, other=0.0)
        acc = tl.dot(left, tl.load(pb, mask=k[:, None] < K - start, other=0.0), acc)
        pa += BK
        pb += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit(do_not_specialize=["row", "column"])
def silu_strided_kernel(x, out, rows, columns, row, column, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    v = tl.load(x + i[:, None] * row + j[None, :] * column, mask=mask)
    tl.store(out + i[:, None] * columns + j[None, :], v * tl.sigmoid(v), mask=mask)


@triton.jit
def attention_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    block = tl.program_id(0)
    base = tl.program_id(1) * N * D
    m = block * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + base + m[:, None] * D + d[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, (block + 1) * BM, BN):
        n = start + tl.arange(0, BN)
        at = base + n[:, None] * D + d[None, :]
        scores = tl.dot(query, tl.trans(tl.load(k + at))) * scale
        scores = tl.where(m[:, None] >= n[None, :], scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + at), acc * fade[:, None])
        top = new
    tl.store(out + base + m[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit(do_not_specialize=["row", "column"])
def add_strided_kernel(x, y, out, rows, columns, row, column, BM: tl.constexpr, BN: tl.constexpr):
    """The sum of x, which has strides of the launch, and of y."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    at = i[:, None] * columns + j[None, :]
    v = tl.load(x + i[:, None] * row + j[None, :] * column, mask=mask)
    tl.store(out + at, v + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def gemv_kernel(a, x, out, K, BM: tl.constexpr, BK: tl.constexpr, SUMS_LAST: tl.constexpr):
    """The product of a matrix and a vector; a loop carries sums of rows, or a tile that is summed at its end."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BK) if SUMS_LAST else (BM,), tl.float32)
    for start in range(0, K, BK):
        products = tl.load(a + m[:, None] * K + start + k[None, :]) * tl.load(x + start + k)[None, :]
        acc += products if SUMS_LAST else tl.sum(products, 1)
    tl.store(out + m, tl.sum(acc, 1) if SUMS_LAST else acc)


@triton.jit
def topk_kernel(x, out, COLUMNS: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    v = tl.load(x + row * COLUMNS + tl.arange(0, COLUMNS))
    tl.store(out + row * K + tl.arange(0, K), tl.topk(v, K))


@triton.jit
def conv2d_kernel(x, w, out, N, H, W, C: tl.constexpr, K, BM: tl.constexpr, BN: tl.constexpr, BC: tl.constexpr):
    """A convolution of 3x3 with a border of zeros as a product: of pixels and of channels, which come last."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.program_id(1) * BN + tl.arange(0, BN)
    c = tl.arange(0, BC)
    image, row, column = m // (H * W), m // W % H, m % W
    acc = tl.zeros((BM, BN), tl.float32)
    for tap in range(9):
        i, j = row + tap // 3 - 1, column + tap % 3 - 1
        inside = (image < N) & (i >= 0) & (i < H) & (j >= 0) & (j < W)
        at = x + ((image * H + i) * W + j)[:, None] * C + c[None, :]
        weights = w + (tap * C + c[:, None]) * K + k[None, :]
        for _ in range(0, C, BC):
            acc = tl.dot(tl.load(at, mask=inside[:, None], other=0.0), tl.load(weights), acc)
            at += BC
            weights += BC * K
    tl.store(out + m[:, None] * K + k[None, :], acc, mask=(m < N * H * W)[:, None])
