# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from support.cpu.interpreter_cases.cases import (
    Result,
    case,
    empty,
    random,
)


@triton.jit
def product(a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    at = m[:, None] * N + n[None, :]
    if ACC:
        r = tl.dot(left, right, tl.load(c + at), input_precision="ieee", out_dtype=out.dtype.element_ty)
    else:
        r = tl.dot(left, right, input_precision="ieee", out_dtype=out.dtype.element_ty)
    tl.store(out + at, r)


def run_product(dtype: torch.dtype, out: torch.dtype, acc: bool) -> Result:
    m, n, k = 16, 32, 64
    result = empty(out, m, n)
    a, b = random(dtype, m, k), random(dtype, k, n, seed=1)
    product[(1,)](a, b, random(out, m, n, small=True, seed=2), result, M=m, N=n, K=k, ACC=acc)
    return result


for _acc in (False, True):
    _title = "dot-acc" if _acc else "dot"
    case(f"{_title}-float16", run_product, torch.float16, torch.float32, _acc, atol=1e-3)
    case(f"{_title}-float32", run_product, torch.float32, torch.float32, _acc, atol=1e-3)
    case(f"{_title}-float64", run_product, torch.float64, torch.float64, _acc, atol=1e-11)
    case(f"{_title}-int8", run_product, torch.int8, torch.int32, _acc)


@triton.jit
def batched(a, b, out, B: tl.constexpr, N: tl.constexpr):
    n = tl.arange(0, N)
    i = tl.arange(0, B)[:, None, None] * N * N + n[None, :, None] * N + n[None, None, :]
    tl.store(out + i, tl.dot(tl.load(a + i), tl.load(b + i), input_precision="ieee"))


def run_batched() -> Result:
    result = empty(torch.float32, 2, 16, 16)
    batched[(1,)](random(torch.float32, 2, 16, 16), random(torch.float32, 2, 16, 16, seed=1), result, B=2, N=16)
    return result


case("dot-batched", run_batched, atol=1e-4)


@triton.jit
def scaled(
    a, sa, b, sb, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr, PACK: tl.constexpr
):
    m, n, ka, groups = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // PACK), tl.arange(0, K // 32)
    left = tl.load(a + m[:, None] * (K // PACK) + ka[None, :])
    right = tl.load(b + ka[:, None] * N + n[None, :])
    scale_a = tl.load(sa + m[:, None] * (K // 32) + groups[None, :])
    scale_b = tl.load(sb + n[:, None] * (K // 32) + groups[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot_scaled(left, scale_a, KIND, right, scale_b, KIND))


def run_scaled(kind: str) -> Result:
    m, n, k = 16, 32, 64
    pack = 2 if kind == "e2m1" else 1
    types = {"e2m1": torch.uint8, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
    rng = np.random.default_rng(0)

    def operand(*shape: int) -> torch.Tensor:
        if kind == "e2m1":
            return torch.from_numpy(rng.integers(0, 256, shape, np.uint8))
        return torch.from_numpy(rng.normal(size=shape)).to(types[kind])

    a, b = operand(m, k // pack), operand(k // pack, n)
    scales = [torch.from_numpy(rng.integers(125, 130, (rows, k // 32), np.uint8)) for rows in (m, n)]
    result = empty(torch.float32, m, n)
    scaled[(1,)](a, scales[0], b, scales[1], result, M=m, N=n, K=k, KIND=kind, PACK=pack)
    return result


for _kind in ("e2m1", "e4m3", "e5m2"):
    case(f"dot_scaled-{_kind}", run_scaled, _kind, atol=1e-3, rtol=1e-5)
