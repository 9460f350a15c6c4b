# SPDX-License-Identifier: Apache-2.0
"""Compares whole kernels, of the kinds that users write, with torch."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from torch.nn import functional
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.keeps_kernels


@triton.jit
def softmax_kernel(out, x, out_stride, x_stride, rows, columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        i = tl.arange(0, BLOCK)
        value = tl.load(x + row * x_stride + i, mask=i < columns, other=-float("inf"))
        value = tl.exp(value - tl.max(value, 0))
        tl.store(out + row * out_stride + i, value / tl.sum(value, 0), mask=i < columns)


@pytest.mark.parametrize("columns", [1, 5, 16, 100, 781, 1024])
def test_softmax(columns: int) -> None:
    x = torch.randn(37, columns) * 10
    out = torch.empty_like(x)
    softmax_kernel[(8,)](out, x, out.stride(0), x.stride(0), 37, columns, BLOCK=triton.next_power_of_2(columns))
    torch.testing.assert_close(out, torch.softmax(x, 1), atol=1e-7, rtol=2e-6)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (GROUP * columns)
    height = min(rows - group * GROUP, GROUP)
    row = group * GROUP + (pid % (GROUP * columns)) % height
    column = (pid % (GROUP * columns)) // height
    im = (row * BM + tl.arange(0, BM)) % M
    jn = (column * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    pa = a + im[:, None] * sam + k[None, :] * sak
    pb = b + k[:, None] * sbk + jn[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(tl.cdiv(K, BK)):
        left = tl.load(pa, mask=k[None, :] < K - step * BK, other=0.0)
        right = tl.load(pb, mask=k[:, None] < K - step * BK, other=0.0)
        acc = tl.dot(left, right, acc)
        pa += BK * sak
        pb += BK * sbk
    if ACTIVATION:
        acc = leaky_relu(acc)
    im = row * BM + tl.arange(0, BM)
    jn = column * BN + tl.arange(0, BN)
    mask = (im[:, None] < M) & (jn[None, :] < N)
    tl.store(c + scm * im[:, None] + scn * jn[None, :], acc.to(c.dtype.element_ty), mask=mask)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(64, 64, 64), (129, 65, 33), (256, 96, 128)], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_matmul(dtype: torch.dtype, shape: tuple[int, int, int], transposed: bool) -> None:
    m, n, k = shape
    a = torch.randn(m, k).to(dtype)
    b = torch.randn(n, k).to(dtype).t() if transposed else torch.randn(k, n).to(dtype)
    c = torch.empty(m, n, dtype=dtype)
    matmul_kernel[(triton.cdiv(m, 32) * triton.cdiv(n, 64),)](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BM=32, BN=64, BK=32, GROUP=4, ACTIVATION=True
    )
    expected = functional.leaky_relu(a.double() @ b.double(), 0.01)
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    torch.testing.assert_close(c.double(), expected, atol=tolerance * 10, rtol=tolerance)


@triton.jit
def dot_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left, right = tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :])
    tl.store(
        c + m[:, None] * N + n[None, :], tl.dot(left, right, input_precision=PRECISION, out_dtype=c.dtype.element_ty)
    )


DOT_TYPES = [
    (torch.float32, torch.float32),
    (torch.float16, torch.float32),
    (torch.float16, torch.float16),
    (torch.bfloat16, torch.float32),
    (torch.float8_e5m2, torch.float32),
    (torch.float8_e4m3fn, torch.float32),
    (torch.int8, torch.int32),
    (torch.float64, torch.float64),
]


@pytest.mark.sampled
@pytest.mark.parametrize("types", DOT_TYPES, ids=str)
@pytest.mark.parametrize("shape", [(16, 16, 16), (1, 16, 32), (64, 128, 16), (4, 2, 8)], ids=str)
def test_dot_of_every_type(types: tuple[torch.dtype, torch.dtype], shape: tuple[int, int, int]) -> None:
    (m, n, k), (source, target) = shape, types
    a, b = (torch.randint(-4, 5, s).to(source) for s in ((m, k), (k, n)))
    c = torch.empty(m, n, dtype=target)
    dot_kernel[(1,)](a, b, c, M=m, N=n, K=k, PRECISION="ieee")
    assert torch.equal(c.double(), a.double() @ b.double())


@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"])
def test_dot_of_every_precision(precision: str) -> None:
    a, b, c = torch.randn(32, 64), torch.randn(64, 32), torch.empty(32, 32)
    dot_kernel[(1,)](a, b, c, M=32, N=32, K=64, PRECISION=precision)
    torch.testing.assert_close(c, a @ b, atol=1e-4, rtol=1e-4)


@triton.jit
def batched_kernel(a, b, c, B: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, B)[:, None, None] * N * N + tl.arange(0, N)[None, :, None] * N + tl.arange(0, N)[None, None, :]
    tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i)))


def test_batched_dot() -> None:
    a, b, c = torch.randn(4, 16, 16), torch.randn(4, 16, 16), torch.empty(4, 16, 16)
    batched_kernel[(1,)](a, b, c, B=4, N=16)
    torch.testing.assert_close(c, a @ b, atol=1e-5, rtol=1e-5)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, value / (1 - p), 0.0), mask=i < n)


@pytest.mark.slow
def test_dropout() -> None:
    x, out, again = torch.ones(10_000), torch.empty(10_000), torch.empty(10_000)
    for result, seed in ((out, 123), (again, 123)):
        dropout_kernel[(10,)](x, result, 10_000, 0.25, seed, BLOCK=1024)
    assert torch.equal(out, again)
    assert 0.73 < (out > 0).float().mean() < 0.77
    torch.testing.assert_close(out[out > 0], torch.full_like(out[out > 0], 1 / 0.75))


@triton.jit
def layer_norm_forward(x, y, w, b, mean, rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + i, mask=i < N, other=0.0).to(tl.float32)
    center = tl.sum(total, 0) / N
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < N, other=0.0).to(tl.float32)
        value = tl.where(i < N, value - center, 0.0)
        squares += value * value
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / N + eps)
    tl.store(mean + row, center)
    tl.store(rstd + row, scale)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        mask = i < N
        value = tl.load(x + i, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + i, (value - center) * scale * tl.load(w + i, mask=mask) + tl.load(b + i, mask=mask), mask=mask)


@triton.jit
def layer_norm_backward(dx, dy, dw, db, x, w, mean, rstd, locks, stride, N, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < N
    slot = row % GROUP
    value = tl.load(x + row * stride + i, mask=mask, other=0).to(tl.float32)
    grad = tl.load(dy + row * stride + i, mask=mask, other=0).to(tl.float32)
    weight = tl.load(w + i, mask=mask).to(tl.float32)
    scale = tl.load(rstd + row)
    hat = tl.where(mask, (value - tl.load(mean + row)) * scale, 0.0)
    weighted = tl.where(mask, weight * grad, 0.0)
    c1 = tl.sum(hat * weighted, axis=0) / N
    c2 = tl.sum(weighted, axis=0) / N
    tl.store(dx + row * stride + i, (weighted - (hat * c1 + c2)) * scale, mask=mask)
    pw, pb = dw + slot * N + i, db + slot * N + i
    while tl.atomic_cas(locks + slot, 0, 1) == 1:
        pass
    count = tl.load(locks + GROUP + slot)
    part_w, part_b = grad * hat, grad
    if count == 0:
        tl.atomic_xchg(locks + GROUP + slot, 1)
    else:
        part_w += tl.load(pw, mask=mask)
        part_b += tl.load(pb, mask=mask)
    tl.store(pw, part_w, mask=mask)
    tl.store(pb, part_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(locks + slot, 0)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [64, 1000])
def test_layer_norm(columns: int) -> None:
    rows, group = 37, 8
    x = torch.randn(rows, columns, requires_grad=True)
    w, b = torch.randn(columns, requires_grad=True), torch.randn(columns, requires_grad=True)
    y, mean, rstd = torch.empty(rows, columns), torch.empty(rows), torch.empty(rows)
    layer_norm_forward[(rows,)](x.detach(), y, w.detach(), b.detach(), mean, rstd, columns, columns, 1e-5, BLOCK=256)
    expected = functional.layer_norm(x, (columns,), w, b, 1e-5)
    torch.testing.assert_close(y, expected, atol=1e-5, rtol=1e-5)
    grad = torch.randn_like(y)
    expected.backward(grad)
    dx, dw, db = torch.empty_like(y), torch.zeros(group, columns), torch.zeros(group, columns)
    locks = torch.zeros(2 * group, dtype=torch.int32)
    layer_norm_backward[(rows,)](
        dx, grad, dw, db, x.detach(), w.detach(), mean, rstd, locks, columns, columns,
        GROUP=group, BLOCK=triton.next_power_of_2(columns),
    )  # fmt: skip
    torch.testing.assert_close(dx, x.grad, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(dw.sum(0), w.grad, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(db.sum(0), b.grad, atol=1e-4, rtol=1e-4)


@triton.jit
def attention_forward(
    q, k, v, out, lse, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr
):
    block, head = tl.program_id(0), tl.program_id(1)
    base = head * N * D
    im = block * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + base + im[:, None] * D + d[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = (block + 1) * BM if CAUSAL else N
    for start in range(0, end, BN):
        jn = start + tl.arange(0, BN)
        key = tl.load(k + base + jn[:, None] * D + d[None, :])
        scores = tl.dot(query, tl.trans(key)) * scale
        if CAUSAL:
            scores = tl.where(im[:, None] >= jn[None, :], scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(p, 1)
        value = tl.load(v + base + jn[:, None] * D + d[None, :])
        acc = tl.dot(p.to(value.dtype), value, acc * fade[:, None])
        top = new
    tl.store(out + base + im[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))
    tl.store(lse + head * N + im, top + tl.log(total))


@triton.jit
def attention_backward(
    q, k, v, do, lse, delta, dq, dk, dv, scale, N,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    block, head = tl.program_id(0), tl.program_id(1)
    base = head * N * D
    jn = block * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    at = base + jn[:, None] * D + d[None, :]
    key, value = tl.load(k + at), tl.load(v + at)
    grad_k, grad_v = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for start in range(block * BN if CAUSAL else 0, N, BM):
        im = start + tl.arange(0, BM)
        row = base + im[:, None] * D + d[None, :]
        query, grad = tl.load(q + row), tl.load(do + row)
        scores = tl.dot(query, tl.trans(key)) * scale
        p = tl.exp(scores - tl.load(lse + head * N + im)[:, None])
        if CAUSAL:
            p = tl.where(im[:, None] >= jn[None, :], p, 0.0)
        grad_v += tl.dot(tl.trans(p), grad)
        dp = tl.dot(grad, tl.trans(value))
        ds = p * (dp - tl.load(delta + head * N + im)[:, None]) * scale
        grad_k += tl.dot(tl.trans(ds), query)
        tl.atomic_add(dq + row, tl.dot(ds, key))
    tl.store(dk + at, grad_k)
    tl.store(dv + at, grad_v)


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("blocks", [(64, 32), (32, 64), (16, 16)], ids=str)
def test_attention(causal: bool, blocks: tuple[int, int]) -> None:
    heads, n, dim = 2, 128, 32
    q, k, v = (torch.randn(heads, n, dim, requires_grad=True) for _ in range(3))
    out, lse = torch.empty(heads, n, dim), torch.empty(heads, n)
    bm, bn = blocks
    inputs = [t.detach() for t in (q, k, v)]
    attention_forward[(n // bm, heads)](*inputs, out, lse, 0.2, n, D=dim, BM=bm, BN=bn, CAUSAL=causal)
    expected = functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=0.2)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
    grad = torch.randn_like(out)
    expected.backward(grad)
    dq, dk, dv = torch.zeros_like(out), torch.empty_like(out), torch.empty_like(out)
    delta = (grad * out).sum(-1).contiguous()
    attention_backward[(n // 32, heads)](
        *inputs, grad, lse, delta, dq, dk, dv, 0.2, n, D=dim, BM=32, BN=32, CAUSAL=causal
    )
    for mine, theirs in ((dq, q), (dk, k), (dv, v)):
        torch.testing.assert_close(mine, theirs.grad, atol=1e-4, rtol=1e-4)


@triton.jit
def group_gemm_kernel(
    addresses, sizes, count, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    tile = tl.program_id(0)
    last = 0
    for g in range(count):
        M, N, K = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        columns = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * columns
        while tile >= last and tile < last + tiles:
            a = tl.load(addresses + g * 3).to(tl.pointer_type(tl.float32))
            b = tl.load(addresses + g * 3 + 1).to(tl.pointer_type(tl.float32))
            c = tl.load(addresses + g * 3 + 2).to(tl.pointer_type(tl.float32))
            im = ((tile - last) // columns) * BM + tl.arange(0, BM)
            jn = ((tile - last) % columns) * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            acc = tl.zeros((BM, BN), tl.float32)
            for start in range(0, K, BK):
                kk = start + k
                left = tl.load(a + im[:, None] * K + kk[None, :], mask=(im[:, None] < M) & (kk[None, :] < K), other=0.0)
                right = tl.load(
                    b + kk[:, None] * N + jn[None, :], mask=(kk[:, None] < K) & (jn[None, :] < N), other=0.0
                )
                acc += tl.dot(left, right)
            tl.store(c + im[:, None] * N + jn[None, :], acc, mask=(im[:, None] < M) & (jn[None, :] < N))
            tile += PROGRAMS
        last += tiles


@pytest.mark.slow
def test_group_gemm() -> None:
    shapes = [(64, 64, 32), (33, 70, 17), (128, 16, 64)]
    a = [torch.randn(m, k) for m, _, k in shapes]
    b = [torch.randn(k, n) for _, n, k in shapes]
    c = [torch.empty(m, n) for m, n, _ in shapes]
    addresses = torch.tensor([[t.data_ptr() for t in group] for group in zip(a, b, c, strict=True)])
    sizes = torch.tensor(shapes, dtype=torch.int32)
    group_gemm_kernel[(3,)](addresses, sizes, len(shapes), PROGRAMS=3, BM=32, BN=32, BK=16)
    for x, y, z in zip(a, b, c, strict=True):
        torch.testing.assert_close(z, x @ y, atol=1e-4, rtol=1e-4)


@triton.jit
def persistent_kernel(a, b, c, M, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        row, column = (tile // columns) * BM, (tile % columns) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            acc = tl.dot(a.load([row, step * BK]), b.load([column, step * BK]).T, acc)
        c.store([row, column], acc.to(tl.float16))


@pytest.mark.slow
def test_persistent_matmul_with_descriptors() -> None:
    m, n, k = 100, 72, 64
    a, b, c = torch.randn(m, k).half(), torch.randn(n, k).half(), torch.empty(m, n).half()
    blocks = [TensorDescriptor.from_tensor(t, s) for t, s in ((a, [32, 16]), (b, [32, 16]), (c, [32, 32]))]
    persistent_kernel[(2,)](*blocks, m, n, k, PROGRAMS=2, BM=32, BN=32, BK=16)
    torch.testing.assert_close(c.float(), a.float() @ b.float().t(), atol=2e-2, rtol=1e-2)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, i, mask=i < n)


@pytest.mark.slow
def test_autotune() -> None:
    x = torch.zeros(5000)
    tuned[lambda meta: (triton.cdiv(5000, meta["BLOCK"]),)](x, 5000)
    assert torch.equal(x, torch.arange(5000.0)) and tuned.best_config is not None


@triton.jit
def scaled_kernel(
    a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr, B: tl.constexpr,
    PACK_A: tl.constexpr, PACK_B: tl.constexpr,
):  # fmt: skip
    m, n = tl.arange(0, M), tl.arange(0, N)
    ka, kb = tl.arange(0, K // PACK_A), tl.arange(0, K // PACK_B)
    groups = tl.arange(0, K // 32)
    left = tl.load(a + m[:, None] * (K // PACK_A) + ka[None, :])
    right = tl.load(b + kb[:, None] * N + n[None, :])
    scale_a = tl.load(sa + m[:, None] * (K // 32) + groups[None, :])
    scale_b = tl.load(sb + n[:, None] * (K // 32) + groups[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(left, scale_a, A, right, scale_b, B))


FP4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


@pytest.mark.slow
@pytest.mark.parametrize("left", ["e2m1", "e4m3", "e5m2"])
@pytest.mark.parametrize("right", ["e2m1", "e4m3", "e5m2"])
def test_scaled_dot(left: str, right: str) -> None:
    m, n, k = 16, 32, 64
    types = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}

    def operand(kind: str, shape: tuple[int, int], axis: int) -> tuple[torch.Tensor, torch.Tensor]:
        if kind != "e2m1":
            x = torch.randn(shape).to(types[kind])
            return x, x.float()
        codes = torch.randint(0, 16, shape)
        low, high = (codes.movedim(axis, -1)[..., i::2].movedim(-1, axis) for i in (0, 1))
        return (low | high << 4).to(torch.uint8).contiguous(), FP4[codes]

    a, a_exact = operand(left, (m, k), 1)
    b, b_exact = operand(right, (k, n), 0)
    scales = [torch.randint(120, 134, (rows, k // 32), dtype=torch.uint8) for rows in (m, n)]
    factors = [torch.exp2(s.float() - 127).repeat_interleave(32, 1) for s in scales]
    c = torch.empty(m, n)
    scaled_kernel[(1,)](
        a, scales[0], b, scales[1], c, M=m, N=n, K=k, A=left, B=right,
        PACK_A=2 if left == "e2m1" else 1, PACK_B=2 if right == "e2m1" else 1,
    )  # fmt: skip
    expected = (a_exact * factors[0]) @ (b_exact * factors[1].t())
    torch.testing.assert_close(c, expected, atol=1e-3, rtol=1e-4)


@triton.jit
def scaled_batches(
    a, sa, b, sb, c, BATCH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr,
    B: tl.constexpr, K_PACK: tl.constexpr,
):  # fmt: skip
    batch, m, n, groups = tl.arange(0, BATCH), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    batch = batch[:, None, None]
    ma: tl.constexpr = M if A != "e2m1" or K_PACK else M // 2
    ka: tl.constexpr = K // 2 if A == "e2m1" and K_PACK else K
    nb: tl.constexpr = N if B != "e2m1" or K_PACK else N // 2
    kb: tl.constexpr = K // 2 if B == "e2m1" and K_PACK else K
    i, k = tl.arange(0, ma), tl.arange(0, ka)
    left = tl.load(a + batch * (ma * ka) + i[None, :, None] * ka + k[None, None, :])
    k, j = tl.arange(0, kb), tl.arange(0, nb)
    right = tl.load(b + batch * (kb * nb) + k[None, :, None] * nb + j[None, None, :])
    scale_a = tl.load(sa + batch * (M * K // 32) + m[None, :, None] * (K // 32) + groups[None, None, :])
    scale_b = tl.load(sb + batch * (N * K // 32) + n[None, :, None] * (K // 32) + groups[None, None, :])
    at = batch * (M * N) + m[None, :, None] * N + n[None, None, :]
    acc = tl.load(c + at)
    # Only elements of which a byte holds two can be packed along another dimension.
    pack_a: tl.constexpr = K_PACK or A != "e2m1"
    pack_b: tl.constexpr = K_PACK or B != "e2m1"
    product = tl.dot_scaled(left, scale_a, A, right, scale_b, B, acc, lhs_k_pack=pack_a, rhs_k_pack=pack_b)
    tl.store(c + at, product)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("e2m1", "e2m1"), ("e4m3", "e2m1"), ("e2m1", "bf16"), ("e5m2", "e4m3")], ids=str)
@pytest.mark.parametrize("k_pack", [True, False])
def test_scaled_dot_of_batches(kinds: tuple[str, str], k_pack: bool) -> None:
    batch, m, n, k = 4, 16, 32, 64
    types = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "bf16": torch.bfloat16}

    def operand(kind: str, shape: tuple[int, ...], axis: int) -> tuple[torch.Tensor, torch.Tensor]:
        if kind != "e2m1":
            x = torch.randn(shape).to(types[kind])
            return x, x.float()
        codes = torch.randint(0, 16, shape)
        low, high = (codes.movedim(axis, -1)[..., i::2].movedim(-1, axis) for i in (0, 1))
        return (low | high << 4).to(torch.uint8).contiguous(), FP4[codes]

    a, a_exact = operand(kinds[0], (batch, m, k), 2 if k_pack else 1)
    b, b_exact = operand(kinds[1], (batch, k, n), 1 if k_pack else 2)
    scales = [torch.randint(120, 134, (batch, rows, k // 32), dtype=torch.uint8) for rows in (m, n)]
    factors = [torch.exp2(s.float() - 127).repeat_interleave(32, 2) for s in scales]
    c = torch.randn(batch, m, n)
    left, right = a_exact.double() * factors[0], b_exact.double() * factors[1].mT
    expected = c.double() + left @ right
    bound = 2e-6 * (c.abs() + left.abs() @ right.abs())  # for a sum of 65 terms in f32
    scaled_batches[(1,)](
        a, scales[0], b, scales[1], c, BATCH=batch, M=m, N=n, K=k, A=kinds[0], B=kinds[1], K_PACK=k_pack
    )
    assert ((c - expected).abs() <= bound).all()


@triton.jit
def collatz(x):
    n = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        n += 1
    return n


@triton.jit
def mapped_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.map_elementwise(collatz, tl.load(x + i)))


def test_map_elementwise() -> None:
    x, out = torch.arange(1, 33, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    mapped_kernel[(1,)](x, out, N=32)
    assert out[:8].tolist() == [0, 1, 7, 2, 5, 8, 16, 3]
