# SPDX-License-Identifier: Apache-2.0
"""Correct kernels have no finding of `lanes`, `hints` and `arith`, and the same results to the last bit with and
without the checks. Some of them leave out ``other`` where that is right."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from triton.backends.compiler import GPUTarget

import triton_ext as tx

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("on_native_backend")]
CHECKS = "lanes,hints,arith"
generated = settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
SIZES = st.integers(1, 40)


def check(
    kernel: Any, grid: tuple[int, ...], out: Any, *args: Any, checks: str = CHECKS, static: bool = True, **options: Any
) -> None:
    """Runs a kernel without and with the checks; `out` is its first argument."""
    kernel[grid](out, *args, **options)
    plain = out.copy()
    out[:] = 0
    with tx.sanitize(checks, static=static) as report:
        kernel[grid](out, *args, **options)
    assert not report.findings, report.text()
    assert report.accesses
    np.testing.assert_array_equal(out.view(np.uint8), plain.view(np.uint8))


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


@triton.jit
def softmax(o, x, columns, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


@triton.jit
def softmax_of_replaced(o, x, columns, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.where(i < columns, tl.load(x + row * columns + i, mask=i < columns), -float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


@generated
@given(rows=SIZES, columns=SIZES)
@pytest.mark.parametrize("kernel", [softmax, softmax_of_replaced])
def test_softmax(kernel: Any, rows: int, columns: int) -> None:
    x = numbers(rows, columns)
    check(kernel, (rows,), np.zeros_like(x), x, columns, N=64)


@triton.jit
def layer_norm(o, x, w, columns, N: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((N,), tl.float32)
    for start in range(0, columns, N):
        i = start + tl.arange(0, N)
        total += tl.load(x + row * columns + i, mask=i < columns, other=0)
    mean = tl.sum(total) / columns
    square = tl.zeros((N,), tl.float32)
    for start in range(0, columns, N):
        i = start + tl.arange(0, N)
        v = tl.load(x + row * columns + i, mask=i < columns)
        v = tl.where(i < columns, v - mean, 0.0)
        square += v * v
    scale = 1 / tl.sqrt(tl.sum(square) / columns + 1e-5)
    for start in range(0, columns, N):
        i = start + tl.arange(0, N)
        weight = tl.load(w + i, mask=i < columns)
        v = tl.load(x + row * columns + i, mask=i < columns)
        tl.store(o + row * columns + i, (v - mean) * scale * weight, mask=i < columns)


@generated
@given(rows=SIZES, columns=SIZES)
def test_layer_norm(rows: int, columns: int) -> None:
    x = numbers(rows, columns)
    check(layer_norm, (rows,), np.zeros_like(x), x, numbers(columns), columns, N=16)


@triton.jit
def matmul(o, x, y, M, N, K, GROUP: tl.constexpr, B: tl.constexpr):  # noqa: PLR0917
    """Rows and columns beyond the end have no `other`; the product keeps them apart. Programs are in groups."""
    pid = tl.program_id(0)
    width = GROUP * tl.cdiv(N, B)
    first = pid // width * GROUP
    size = min(tl.cdiv(M, B) - first, GROUP)
    row, column = first + (pid % width) % size, (pid % width) // size
    m, n = row * B + tl.arange(0, B), column * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        k = start + tl.arange(0, B)
        a = tl.load(x + m[:, None] * K + k[None, :], mask=m[:, None] < M)
        b = tl.load(y + k[:, None] * N + n[None, :], mask=n[None, :] < N)
        acc = tl.dot(a, b, acc)
    tl.store(o + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@generated
@given(m=SIZES, n=SIZES, k=st.sampled_from([16, 32, 48]))
def test_matmul(m: int, n: int, k: int) -> None:
    grid = (triton.cdiv(m, 16) * triton.cdiv(n, 16),)
    check(matmul, grid, np.zeros((m, n), np.float32), numbers(m, k), numbers(k, n), m, n, k, GROUP=2, B=16)


@triton.jit
def attention(o, q, k, v, n, scale, D: tl.constexpr, B: tl.constexpr):  # noqa: PLR0917
    """Causal; the last tile is masked, without `other` for the queries."""
    row, d = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    queries = tl.load(q + row[:, None] * D + d[None, :], mask=row[:, None] < n)
    most = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * B, B):
        i = start + tl.arange(0, B)
        keys = tl.load(k + i[None, :] * D + d[:, None], mask=i[None, :] < n, other=0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((row[:, None] >= i[None, :]) & (i[None, :] < n), scores, -float("inf"))
        now = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp(scores - now[:, None])
        shrink = tl.exp(most - now)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0)
        acc = tl.dot(p, values, acc * shrink[:, None])
        most = now
    tl.store(o + row[:, None] * D + d[None, :], acc / total[:, None], mask=row[:, None] < n)


@generated
@given(n=SIZES)
def test_attention(n: int) -> None:
    q, k, v = (numbers(n, 16) for _ in range(3))
    check(attention, (triton.cdiv(n, 16),), np.zeros((n, 16), np.float32), q, k, v, n, 0.25, D=16, B=16)


@triton.jit
def average(o, x, counts, n, N: tl.constexpr):
    """Lanes that are off divide 0 by 0; nobody sees them."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    i = tl.max_contiguous(tl.multiple_of(i, N), N)
    total = tl.load(x + i, mask=i < n, other=0)
    count = tl.load(counts + i, mask=i < n, other=0)
    tl.store(o + i, total.to(tl.int32) // count + (total / count.to(tl.float32)).to(tl.int32), mask=i < n)


@generated
@given(n=SIZES)
def test_division_in_lanes_that_are_off(n: int) -> None:
    counts = np.arange(1, n + 1, dtype=np.int32)
    check(average, (3,), np.zeros(n, np.int32), numbers(n) * 100, counts, n, N=16)


@triton.jit
def products(o, x, y, N: tl.constexpr):
    """Products that the compiler makes a part of a sum: of a reduction, behind a change of shape, by a choice."""
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, tl.zeros([N], tl.float32) + tl.sum(a * b, 0))
    tl.store(o + N + i, tl.reshape(tl.reshape(a * b, [N // 4, 4]) + tl.reshape(a, [N // 4, 4]), [N]))
    p = a * b
    tl.store(o + 2 * N + i, tl.where(i == 3, p - 1.0, p))


def test_products_are_rounded_as_without_checks() -> None:
    check(products, (1,), np.zeros(3 * 128, np.float32), numbers(2, 128)[0], numbers(2, 128)[1], N=128)


@triton.jit
def variances(o, x, columns, N: tl.constexpr):
    """Two quotients beside each other, which LLVM computes by one instruction if no branch is near."""
    row = tl.program_id(0) * columns
    total = tl.zeros((N,), tl.float32)
    squares = tl.zeros((N,), tl.float32)
    for start in range(0, columns, N):
        v = tl.load(x + row + start + tl.arange(0, N), mask=start + tl.arange(0, N) < columns, other=0.0)
        total += v
        squares += v * v
    mean = tl.sum(total, 0) / columns
    tl.store(o + tl.program_id(0), tl.sum(squares, 0) / columns - mean * mean)


@pytest.mark.parametrize("checks", ["bounds,lanes,hints", "all"])
def test_a_check_does_not_change_how_a_difference_is_rounded(checks: str) -> None:
    x, out = numbers(4096, 256), np.zeros(4096, np.float32)
    check(variances, (4096,), out, x, 256, N=128, checks=checks)


@triton.jit
def mean_squares(o, x, columns, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * columns + i, mask=i < columns, other=0.0)
    tl.store(o + tl.program_id(0), tl.rsqrt(tl.sum(v * v, 0) / columns + 1e-6))


def test_products_stay_beside_sums_for_a_gpu() -> None:
    """A check between a product and the sum that it is in would keep LLVM from fusing them."""
    types = {"o": "*fp32", "x": "*fp32", "columns": "i32", "N": "constexpr"}
    fused = []
    for checks in (contextlib.nullcontext(), tx.sanitize("arith")):
        with checks:
            source = triton.compiler.ASTSource(mean_squares, types, {"N": 1024})
            fused.append(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"].count("fma.rn.f32"))
    assert fused[0] > 0
    assert fused[1] >= fused[0]


@triton.jit
def rms_norm(o, x, w, columns, N: tl.constexpr):
    row, i = tl.program_id(0) * columns, tl.arange(0, N)
    v = tl.load(x + row + i, mask=i < columns, other=0.0)
    scale = tl.rsqrt(tl.sum(v * v, 0) / columns + 1e-6)
    tl.store(o + row + i, v * scale * tl.load(w + i, mask=i < columns), mask=i < columns)


@pytest.mark.parametrize("columns", [1000, 1024])
def test_a_sum_is_in_the_same_order_if_the_kernel_makes_every_check(columns: int) -> None:
    """A check stands between the load of the row and its last use."""
    x, w = numbers(50, columns), numbers(columns)
    check(rms_norm, (50,), np.zeros_like(x), x, w, columns, N=1024, checks="bounds,lanes,hints", static=False)
