# SPDX-License-Identifier: Apache-2.0
"""Rows of benchmarks/cpu.py with products of matrices: in the best of a few tiles, and in tiles of GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import triton
from cpu_kernels import (
    attention_kernel,
    conv2d_kernel,
    gemv_kernel,
    matmul_kernel,
    scaled_matmul_kernel,
    wrapped_matmul_kernel,
)
from cpu_peaks import peak
from cpu_timing import Case, Rows, Run, fastest
from torch.nn import functional

#: Tiles that library kernels for GPUs have, and tiles for CPUs.
OF_GPUS = ((64, 64, 32), (128, 256, 64))
TILES = (
    (64, 64, 64),
    (128, 128, 64),
    (128, 128, 128),
    (128, 256, 128),
    (128, 256, 256),
    (256, 128, 64),
    (256, 256, 128),
    (256, 256, 256),
)
UNITS = {torch.float32: "f32", torch.float16: "f32", torch.bfloat16: "bf16", torch.int8: "int8"}


def _shown(tile: tuple[int, ...]) -> str:
    return "x".join(map(str, tile))


def _product(dtype: torch.dtype, size: int, aim: float, sums: torch.dtype = torch.float32) -> tuple[Case, ...]:
    """Returns the best of the tiles beside torch, and the tiles of GPUs beside the best one."""
    name = f"matmul {str(dtype).removeprefix('torch.')} {size}^3"
    unit, rounding = UNITS[dtype], 1e-2  # up to 2,048 products are added in another order
    if sums == torch.float16:
        name, unit, rounding = f"{name}, sums of fp16", "fp16", 5.0  # and rounded after each of them
    if dtype == torch.int8:
        a, b = (torch.randint(-128, 128, (size, size), dtype=dtype) for _ in range(2))
        out = torch.empty(size, size, dtype=torch.int32)
    else:
        a, b = (torch.randn(size, size).to(dtype) for _ in range(2))
        out = torch.empty(size, size, dtype=sums)

    def eager() -> torch.Tensor:
        return torch._int_mm(a, b) if dtype == torch.int8 else a @ b

    def ours(tile: tuple[int, int, int]) -> Run:
        bm, bn, bk = tile
        grid = (size // bm * (size // bn),)
        return lambda: matmul_kernel[grid](a, b, out, size, size, size, BM=bm, BN=bn, BK=bk)

    def expected() -> torch.Tensor:
        return a.double() @ b.double()

    runs = {tile: ours(tile) for tile in (*OF_GPUS, *TILES)}
    best = fastest(runs)
    beside: list[tuple[tuple[int, int, int], float, Run, str]] = [(best, aim, eager, "torch")]
    beside += [(tile, 1.3, runs[best], "the best tile") for tile in OF_GPUS if dtype != torch.float16]
    return tuple(
        Case(
            f"{name}, {_shown(tile)}",
            most,
            matmul_kernel,
            runs[tile],
            other,
            versus=versus,
            result=out,
            expected=expected,
            atol=rounding,
            bytes=2 * a.nbytes + out.nbytes,
            operations=2 * size**3,
            unit=unit,
        )
        for tile, most, other, versus in beside
    )


def products(dtype: torch.dtype, aim: float) -> Callable[[], Iterator[tuple[Case, ...]]]:
    """Returns the rows of a type; of fp16 also with sums of fp16, if the processor has an FMA of them."""

    def rows() -> Iterator[tuple[Case, ...]]:
        for size in (1024, 2048):
            yield _product(dtype, size, aim)
            if dtype == torch.float16 and peak("fp16", 1)[0]:
                yield _product(dtype, size, 0.6, torch.float16)

    return rows


def scaled() -> Iterator[Case]:
    """Yields `tl.dot_scaled` of two formats beside the product of bf16 with the same tiles."""
    size, tile, group = 1024, (128, 128, 128), 32
    grid = (size // tile[0] * (size // tile[1]),)
    sizes = dict(zip(("BM", "BN", "BK"), tile, strict=True))
    wide = [torch.randn(size, size).bfloat16() for _ in range(2)]
    out, out_wide = torch.empty(size, size), torch.empty(size, size)
    scales = [torch.randint(120, 134, (size, size // group), dtype=torch.uint8) for _ in range(2)]
    factors = [torch.exp2(s.double() - 127).repeat_interleave(group, 1) for s in scales]
    numbers = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=torch.float64)
    codes = [torch.randint(0, 16, (size, size)) for _ in range(2)]
    packed = [codes[0][:, ::2] | codes[0][:, 1::2] << 4, codes[1][::2] | codes[1][1::2] << 4]
    narrow = [matrix.to(torch.float8_e4m3fn) for matrix in wide]
    for kind, (a, b), exact in (
        ("e4m3", narrow, [matrix.double() for matrix in narrow]),
        ("e2m1", [matrix.to(torch.uint8) for matrix in packed], [numbers[code] for code in codes]),
    ):

        def ours(a: torch.Tensor = a, b: torch.Tensor = b, kind: str = kind) -> object:
            return scaled_matmul_kernel[grid](a, scales[0], b, scales[1], out, size, size, size, FORMAT=kind, **sizes)

        yield Case(
            f"scaled matmul {kind} {size}^3, {_shown(tile)}",
            2.0,
            scaled_matmul_kernel,
            ours,
            lambda: matmul_kernel[grid](*wide, out_wide, size, size, size, **sizes),
            versus="bf16 without scales",
            result=out,
            expected=lambda exact=exact: (exact[0] * factors[0]) @ (exact[1] * factors[1].T),
            atol=0.1,
            bytes=a.nbytes + b.nbytes + out.nbytes,
            operations=2 * size**3,
            unit="bf16",
        )


def wrapped() -> Iterator[tuple[Case, ...]]:
    size, bm, bn, bk = 1000, 128, 128, 64
    # Tiles that do not wrap around read behind the matrices, where zeros are: other numbers could be slow.
    a, b = (torch.zeros(size + bm, size)[:size].normal_() for _ in range(2))
    c = torch.empty(size, size)
    grid = (triton.cdiv(size, bm) * triton.cdiv(size, bn),)

    def run(wraps: bool) -> Run:
        return lambda: wrapped_matmul_kernel[grid](a, b, c, size, size, size, BM=bm, BN=bn, BK=bk, WRAPS=wraps)

    plain = run(False)
    yield tuple(
        Case(
            f"matmul float32 1000^3, {name}",
            aim,
            wrapped_matmul_kernel,
            ours,
            other,
            versus=versus,
            result=c,
            expected=lambda: a @ b,
            atol=1e-3,
            bytes=12 * size**2,
            operations=2 * size**3,
        )
        for name, aim, ours, other, versus in (
            ("masked", 1.3, plain, lambda: a @ b, "torch"),
            ("masked, wrapped", 1.1, run(True), plain, "the same, not wrapped"),
        )
    )


def attention() -> Iterator[Case]:
    heads, length, width = 8, 1024, 64
    for dtype, aim in ((torch.float32, 0.8), (torch.bfloat16, 0.9)):
        q, k, v = (torch.randn(heads, length, width).to(dtype) for _ in range(3))
        out = torch.empty_like(q)

        def ours(
            tile: tuple[int, int], q: torch.Tensor = q, k: torch.Tensor = k, v: torch.Tensor = v, o: torch.Tensor = out
        ) -> Run:
            grid = (length // tile[0], heads)
            return lambda: attention_kernel[grid](q, k, v, o, 0.125, length, D=width, BM=tile[0], BN=tile[1])

        best = fastest({tile: ours(tile) for tile in ((64, 64), (128, 64), (64, 128), (128, 128))})
        yield Case(
            f"causal attention {str(dtype).removeprefix('torch.')} 8x1024x64, {_shown(best)}",
            aim,
            attention_kernel,
            ours(best),
            lambda q=q, k=k, v=v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
            result=out,
            atol=1e-4 if dtype == torch.float32 else 3e-2,
            bytes=4 * q.nbytes,
            operations=heads * length * length / 2 * (2 * 2 * width + 28),
            unit=UNITS[dtype],
        )


def gemv() -> Iterator[tuple[Case, ...]]:
    n = 4096
    a, x, out = torch.randn(n, n), torch.randn(n), torch.empty(n)

    def eager() -> torch.Tensor:
        return a @ x

    def ours(tile: tuple[int, int], sums_last: bool) -> Run:
        bm, bk = tile
        return lambda: gemv_kernel[(n // bm,)](a, x, out, n, BM=bm, BK=bk, SUMS_LAST=sums_last)

    def case(sums_last: bool) -> Case:
        runs = {tile: ours(tile, sums_last) for tile in ((4, 512), (8, 256), (16, 128))}
        best = fastest(runs)
        return Case(
            f"GEMV float32 4096^2, {_shown(best)}{', sums last' if sums_last else ''}",
            1.0,
            gemv_kernel,
            runs[best],
            eager,
            result=out,
            atol=1e-3,
            bytes=4 * n * n,
            operations=2 * n * n,
        )

    yield case(False), case(True)


def conv2d() -> Iterator[Case]:
    images, height, width, channels, filters = 8, 56, 56, 64, 64
    x = torch.randn(images, channels, height, width).to(memory_format=torch.channels_last)
    w = torch.randn(filters, channels, 3, 3).to(memory_format=torch.channels_last)
    taps = w.permute(2, 3, 1, 0).contiguous()
    out = torch.empty(images, height, width, filters)
    pixels = images * height * width

    def ours(bm: int) -> Run:
        grid = (triton.cdiv(pixels, bm), 1)
        return lambda: conv2d_kernel[grid](
            x, taps, out, images, height, width, C=channels, K=filters, BM=bm, BN=filters, BC=channels
        )

    yield Case(
        "conv2d 3x3 float32 8x56x56x64, implicit",
        1.3,
        conv2d_kernel,
        ours(fastest({bm: ours(bm) for bm in (64, 128)})),
        lambda: functional.conv2d(x, w, padding=1),
        result=out,
        expected=lambda: functional.conv2d(x, w, padding=1).permute(0, 2, 3, 1),
        atol=1e-3,
        bytes=4 * (x.numel() + w.numel() + out.numel()),
        operations=2 * pixels * 9 * channels * filters,
    )


ROWS: Rows = {
    "matmul_float32": products(torch.float32, 1.1),
    "matmul_bfloat16": products(torch.bfloat16, 1.1),
    "matmul_int8": products(torch.int8, 1.3),
    "matmul_float16": products(torch.float16, 0.6),
    "scaled": scaled,
    "wrapped": wrapped,
    "attention": attention,
    "gemv": gemv,
    "conv2d": conv2d,
}
