# SPDX-License-Identifier: Apache-2.0
"""Rows of benchmarks/cpu.py that are not products: elementwise code, normalisations, masks, strides and top-k."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import triton
from cpu_kernels import (
    add_kernel,
    add_strided_kernel,
    gelu_kernel,
    layer_norm_kernel,
    silu_mul_kernel,
    silu_strided_kernel,
    softmax_kernel,
    topk_kernel,
)
from cpu_timing import Case, Rows
from torch.nn import functional

N = 2**24
GRID = (triton.cdiv(N, 4096),)


def add() -> Iterator[Case]:
    x, y, out = torch.randn(N), torch.randn(N), torch.empty(N)
    yield Case(
        "add 2^24",
        1.05,
        add_kernel,
        lambda: add_kernel[GRID](x, y, out, N, BLOCK=4096),
        lambda: torch.add(x, y, out=out),
        result=out,
        expected=lambda: x + y,
        numpy=lambda: np.add(x.numpy(), y.numpy(), out=out.numpy()),
        bytes=12 * N,
        operations=N,
    )


def gelu() -> Iterator[Case]:
    x, out = torch.randn(N), torch.empty(N)
    yield Case(
        "GELU 2^24",
        0.5,
        gelu_kernel,
        lambda: gelu_kernel[GRID](x, out, N, BLOCK=4096),
        lambda: 0.5 * x * (1 + torch.erf(x * 0.7071067811865476)),
        result=out,
        bytes=8 * N,
        operations=54 * N,
    )


def silu() -> Iterator[Case]:
    x, y, out = torch.randn(N), torch.randn(N), torch.empty(N)
    yield Case(
        "SiLU(x) * y 2^24",
        0.5,
        silu_mul_kernel,
        lambda: silu_mul_kernel[GRID](x, y, out, N, BLOCK=4096),
        lambda: functional.silu(x) * y,
        result=out,
        numpy=lambda: x.numpy() / (1 + np.exp(-x.numpy())) * y.numpy(),
        bytes=12 * N,
        operations=28 * N,
    )


def _numpy_softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def softmax() -> Iterator[Case]:
    for rows, columns, block, dtype in (
        (4096, 1024, 1024, torch.float32),
        (2048, 3000, 4096, torch.float32),
        (2048, 3000, 4096, torch.bfloat16),
    ):
        x = torch.randn(rows, columns).to(dtype)
        out = torch.empty_like(x)
        masked = f" {str(dtype).removeprefix('torch.')}, BLOCK={block}" if block > columns else ""
        yield Case(
            f"softmax {rows}x{columns}{masked}",
            1.0,
            softmax_kernel,
            lambda x=x, out=out, grid=(rows,), columns=columns, block=block: softmax_kernel[grid](
                x, out, columns, BLOCK=block
            ),
            lambda x=x: torch.softmax(x, 1),
            result=out,
            atol=1e-4 if dtype == torch.float32 else 1e-2,
            numpy=None if masked else lambda x=x: _numpy_softmax(x.numpy()),
            bytes=2 * x.nbytes,
            operations=28 * x.numel(),
        )


def _numpy_layer_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b


def layer_norm() -> Iterator[Case]:
    rows, columns = 4096, 1024
    x, w, b, out = torch.randn(rows, columns), torch.randn(columns), torch.randn(columns), torch.empty(rows, columns)
    yield Case(
        "layer norm 4096x1024",
        0.9,
        layer_norm_kernel,
        lambda: layer_norm_kernel[(rows,)](x, w, b, out, columns, 1e-5, BLOCK=columns),
        lambda: functional.layer_norm(x, (columns,), w, b),
        result=out,
        numpy=lambda: _numpy_layer_norm(x.numpy(), w.numpy(), b.numpy()),
        bytes=8 * rows * columns,
        operations=8 * rows * columns,
    )


def strided() -> Iterator[Case]:
    """Rows of which the compiler does not know the strides, one of which is 1."""
    n = 4096
    x, y, out = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    grid = (n // 32, n // 128)
    yield Case(
        "SiLU 4096x4096, strides of the launch",
        1.0,
        silu_strided_kernel,
        lambda: silu_strided_kernel[grid](x, out, n, n, n, 1, BM=32, BN=128),
        lambda: functional.silu(x),
        result=out,
        bytes=8 * n * n,
        operations=28 * n * n,
    )
    for shown, tensor in ((", strides of the launch", x), (", x transposed", x.t())):
        yield Case(
            f"add 4096x4096{shown}",
            1.0,
            add_strided_kernel,
            lambda tensor=tensor: add_strided_kernel[grid](tensor, y, out, n, n, *tensor.stride(), BM=32, BN=128),
            lambda tensor=tensor: torch.add(tensor, y, out=out),
            result=out,
            expected=lambda tensor=tensor: tensor + y,
            bytes=12 * n * n,
            operations=n * n,
        )
    yield Case(
        "SiLU 4096x4096, x transposed",
        1.0,
        silu_strided_kernel,
        lambda: silu_strided_kernel[grid](x, out, n, n, 1, n, BM=32, BN=128),
        lambda: functional.silu(x.t()).contiguous(),
        versus="torch, contiguous",
        result=out,
        bytes=8 * n * n,
        operations=28 * n * n,
    )


def topk() -> Iterator[Case]:
    rows, columns, count = 64, 4096, 64
    x, out = torch.randn(rows, columns), torch.empty(rows, count)
    yield Case(
        "top 64 of 64x4096",
        1.2,
        topk_kernel,
        lambda: topk_kernel[(rows,)](x, out, COLUMNS=columns, K=count),
        lambda: torch.topk(x, count).values,
        result=out,
        bytes=4 * rows * columns,
    )


ROWS: Rows = {
    "add": add,
    "gelu": gelu,
    "silu": silu,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "strided": strided,
    "topk": topk,
}
