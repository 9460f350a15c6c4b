# SPDX-License-Identifier: Apache-2.0
"""`tl.dot` on the units for narrow elements: AMX (emulated, and on a machine that has it), AVX512-BF16, VNNI, vpmaddwd.

Where each sum has one right result, all units must give it: integers, and floats that are small integers.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from support.cpu import emulated_units
from support.cpu.dots import (
    BF16,
    E4M3,
    E5M2,
    FP16,
    FP32,
    HERE,
    INT8,
    NAMES,
    Matrices,
    compiled,
    compiled_product,
    sum_type,
    units_in,
)

pytestmark = pytest.mark.keeps_kernels


# What is chosen


CHOSEN = [
    ("sapphirerapids", BF16, "tdpbf16ps"),
    ("sapphirerapids", E5M2, "tdpbf16ps"),
    ("sapphirerapids", E4M3, "tdpbf16ps"),
    ("sapphirerapids", INT8, "tdpbssd"),
    ("sapphirerapids", FP16, "tdpbf16ps"),
    ("sapphirerapids", FP32, "vfmadd"),
    ("haswell", FP32, "vfmadd"),
    ("graniterapids", FP16, "tdpfp16ps"),
    ("sapphirerapids;-amx-bf16", BF16, "vdpbf16ps"),
    ("sapphirerapids;-amx-bf16", FP16, "vfmadd"),
    ("sapphirerapids;-amx-bf16,-avx512bf16", BF16, "vfmadd"),
    ("sapphirerapids;-amx-int8", INT8, "vpdpbusd"),
    ("cooperlake", E5M2, "vdpbf16ps"),
    ("cascadelake", INT8, "vpdpbusd"),
    ("cascadelake", BF16, "vfmadd"),
    ("alderlake", INT8, "vpdpbusd"),
    ("skylake-avx512", INT8, "vpmaddwd"),
    ("haswell", INT8, "vpmaddwd"),
    ("x86-64", INT8, "pmaddwd"),
]


@pytest.mark.parametrize(("arch", "dtype", "instruction"), CHOSEN, ids=str)
def test_the_unit_of_a_cpu(arch: str, dtype: torch.dtype, instruction: str) -> None:
    assert units_in(compiled_product(dtype, (1, 16, 32, 64), arch)) == [instruction]


@pytest.mark.parametrize(
    ("dtype", "sizes", "instruction"),
    [
        (BF16, (1, 16, 16, 32), "tdpbf16ps"),
        (BF16, (1, 8, 16, 32), "vdpbf16ps"),
        (BF16, (1, 16, 8, 32), "vdpbf16ps"),
        (BF16, (1, 16, 16, 16), "vdpbf16ps"),
        (BF16, (1, 16, 4, 2), "vdpbf16ps"),
        (BF16, (1, 16, 2, 32), "vfmadd"),
        (BF16, (1, 16, 16, 1), "vfmadd"),
        (FP16, (1, 16, 32, 32), "tdpbf16ps"),
        (FP16, (1, 8, 32, 32), "vfmadd"),
        (FP16, (1, 16, 16, 32), "vfmadd"),
        (FP16, (1, 16, 32, 16), "vfmadd"),
        (INT8, (1, 16, 16, 64), "tdpbssd"),
        (INT8, (1, 16, 16, 32), "vpdpbusd"),
        (INT8, (1, 16, 16, 2), "vpmaddwd"),
    ],
    ids=str,
)
def test_a_small_product_takes_the_next_unit(
    dtype: torch.dtype, sizes: tuple[int, int, int, int], instruction: str
) -> None:
    assert units_in(compiled_product(dtype, sizes, "sapphirerapids")) == [instruction]


# What it computes


TILED = [(1, 16, 16, 64), (1, 32, 64, 128), (1, 64, 16, 256), (1, 16, 64, 512), (2, 32, 16, 64), (1, 128, 32, 64)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "arch"),
    [
        (BF16, "sapphirerapids"),
        (INT8, "sapphirerapids"),
        (E5M2, "sapphirerapids"),
        (FP16, "sapphirerapids"),
        (FP16, "graniterapids"),
    ],
    ids=str,
)
@pytest.mark.parametrize("sizes", TILED, ids=str)
def test_tiles(dtype: torch.dtype, arch: str, sizes: tuple[int, int, int, int], tmp_path: Path) -> None:
    if (dtype, arch) == (FP16, "sapphirerapids"):  # fewer columns are multiplied by FMA
        sizes = (*sizes[:2], max(sizes[2], 32), sizes[3])
    for number, layout in enumerate(((False, False), (True, False), (False, True))):
        here = tmp_path / str(number)
        here.mkdir()
        matrices = Matrices(dtype, sizes, layout)
        kernel = compiled_product(dtype, sizes, arch, down=layout)
        emulator = emulated_units.run_emulated(kernel, here, 1, matrices.arguments)
        assert emulator.problems == []
        assert sum(emulator.calls[name] for name in ("tdpbf16ps", "tdpbssd", "tdpfp16ps")) > 0
        assert torch.equal(matrices.total, matrices.expected)


VECTORS = [
    (1, 16, 16, 16),
    (1, 1, 16, 32),
    (1, 64, 128, 16),
    (1, 4, 8, 8),
    (1, 32, 4, 64),
    (4, 2, 32, 4),
    (1, 8, 64, 512),
]


@pytest.mark.sampled
@pytest.mark.parametrize("arch", HERE)
@pytest.mark.parametrize("dtype", [FP32, BF16, FP16, INT8, E4M3], ids=str)
@pytest.mark.parametrize("sizes", [*VECTORS, *TILED[:4]], ids=str)
def test_products_on_this_machine(
    arch: str, dtype: torch.dtype, sizes: tuple[int, int, int, int], tmp_path: Path
) -> None:
    for number, layout in enumerate(((False, False), (True, True))):
        here = tmp_path / str(number)
        here.mkdir()
        matrices = Matrices(dtype, sizes, layout)
        step = max(1, sizes[3] // 2)
        emulated_units.run(compiled_product(dtype, sizes, arch, step, layout), here, 1, matrices.arguments)
        assert torch.equal(matrices.total, matrices.expected)


@pytest.mark.parametrize("arch", HERE)
def test_bf16_against_f64(arch: str, tmp_path: Path) -> None:
    """The error is within that of K products that are added one by one in f32."""
    m, n, k = 32, 64, 256
    a, b, c = torch.randn(1, m, k).to(BF16), torch.randn(1, k, n).to(BF16), torch.zeros(1, m, n)
    emulated_units.run(compiled_product(BF16, (1, m, n, k), arch), tmp_path, 1, (a, b, c))
    x, y = a.double(), b.double()
    bound = (k + 1) * 2**-24 * (x.abs() @ y.abs())
    assert ((c.double() - x @ y).abs() <= bound).all()


# Several products


@triton.jit
def attention(q, k, v, out, N: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr, SPEAKS: tl.constexpr):
    """Products whose operands are computed, without the softmax: sum of (q @ k^T / 2) @ v over blocks."""
    at, d = tl.arange(0, BLOCK), tl.arange(0, D)
    query = (tl.load(q + at[:, None] * D + d[None, :]) * 2).to(tl.bfloat16)
    total = tl.zeros((BLOCK, D), tl.float32)
    for start in range(0, N, BLOCK):
        keys = tl.load(k + (start + at)[:, None] * D + d[None, :])
        scores = tl.dot(query, keys.T) * 0.5
        values = tl.load(v + (start + at)[:, None] * D + d[None, :])
        total = tl.dot(scores.to(tl.bfloat16), values, total)
        if SPEAKS:
            tl.device_print("start", start)
    tl.store(out + at[:, None] * D + d[None, :], total)


@pytest.mark.slow
@pytest.mark.parametrize("speaks", [False, True])
def test_the_configuration_of_tiles(speaks: bool, tmp_path: Path) -> None:
    """It is loaded once for a loop. If the loop prints, which may run Python, each product loads and releases it."""
    n, d, block = 64, 64, 32
    q, k, v = (torch.randint(-1, 2, s).to(BF16) for s in ((block, d), (n, d), (n, d)))
    out = torch.full((block, d), 7.0)
    types = dict(zip(("q", "k", "v", "out"), ("*bf16",) * 3 + ("*fp32",), strict=True))
    constants = {"N": n, "D": d, "BLOCK": block, "SPEAKS": int(speaks)}
    kernel = compiled(attention, types, constants, "sapphirerapids")
    emulator = emulated_units.run_emulated(kernel, tmp_path, 1, (q, k, v, out))
    assert emulator.problems == []
    assert emulator.calls["ldtilecfg"] == emulator.calls["tilerelease"] == (3 if speaks else 1)
    assert emulator.calls["tilezero"] > 0  # a product without an addend begins with zeros
    assert torch.equal(out.double(), (q.double() @ k.double().mT) @ v.double())


# Operands with masks, and in scratch memory


@triton.jit
def masked(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, HOW: tl.constexpr):
    """c = a @ b for an m x k and a k x n matrix, in tiles that reach beyond them. HOW: what is in scratch memory."""
    row, column, step = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, STEP)
    total = tl.zeros((M, N), c.dtype.element_ty)
    for start in range(0, k, STEP):
        x = tl.load(a + row * k + start + step[None, :], mask=(row < m) & (step[None, :] < k - start), other=0)
        y = tl.load(b + (start + step[:, None]) * n + column, mask=(step[:, None] < k - start) & (column < n), other=0)
        if HOW & 1:
            x = tl.flip(tl.cumsum(x, 0), 0)
        if HOW & 2:
            y = tl.cumsum(y, 1)
        total = tl.dot(x, y, total, out_dtype=total.dtype)
    tl.store(c + row * n + column, total, mask=(row < m) & (column < n))


class Sizes:
    """An integer argument of `emulated_units.run`."""

    def __init__(self, value: int) -> None:
        self.value = value

    def data_ptr(self) -> int:
        return self.value


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("arch", "dtype", "how"),
    [
        *((arch, FP32, how) for arch in HERE for how in range(4)),
        *((arch, dtype, 0) for arch in HERE for dtype in (BF16, INT8)),
        ("sapphirerapids", FP16, 0),
    ],
    ids=str,
)
@pytest.mark.parametrize(("tile", "step"), [((16, 64), 64), ((16, 32), 16)])
def test_masked_operands(
    arch: str, dtype: torch.dtype, how: int, tile: tuple[int, int], step: int, tmp_path: Path
) -> None:
    types = {"a": NAMES[dtype], "b": NAMES[dtype], "c": NAMES[sum_type(dtype)], "m": "i32", "n": "i32", "k": "i32"}
    kernel = compiled(masked, types, {"M": tile[0], "N": tile[1], "STEP": step, "HOW": how}, arch)
    for number, (m, n, k) in enumerate(
        ((tile[0], tile[1], 2 * step), (13, 17, step + 3), (1, 1, 5), (7, 31, 3 * step - 1))
    ):
        here = tmp_path / str(number)
        here.mkdir()
        # What lies behind the matrices is not read: products with NaN are not numbers.
        a, b = torch.full((m * k + 64,), float("nan")), torch.full((k * n + 64,), float("nan"))
        x, y = torch.randint(-2, 3, (m, k)), torch.randint(-2, 3, (k, n))
        a[: m * k], b[: k * n] = x.flatten().float(), y.flatten().float()
        c = torch.zeros(m, n, dtype=sum_type(dtype))
        left, right = torch.zeros(tile[0], k), torch.zeros(k, tile[1])
        left[:m], right[:, :n] = x.float(), y.float()
        left = left.cumsum(0).flip(0) if how & 1 else left
        right = right.cumsum(1) if how & 2 else right
        operands = (
            (a.nan_to_num(7).to(dtype), b.nan_to_num(7).to(dtype)) if dtype == INT8 else (a.to(dtype), b.to(dtype))
        )
        run = emulated_units.run if arch in HERE else emulated_units.run_emulated
        run(kernel, here, 1, (*operands, c, Sizes(m), Sizes(n), Sizes(k)))
        assert torch.equal(c.double(), (left.double() @ right.double())[:m, :n])
