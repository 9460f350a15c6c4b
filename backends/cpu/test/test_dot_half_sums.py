# SPDX-License-Identifier: Apache-2.0
"""`tl.dot(x, y, out_dtype=tl.float16)` of fp16 where the target has AVX512-FP16: products are summed in fp16.

The code runs on any machine: LLVM has a function for an FMA of fp16, which rounds once, as the instruction does.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel

from support.cpu import emulated_units
from support.cpu.dots import FP16, HERE, NAMES, compiled, compiled_product, down, units_in

pytestmark = pytest.mark.keeps_kernels

XEON, OLDER = "sapphirerapids", "cooperlake"
run_here = emulated_units.run if XEON in HERE else emulated_units.run_emulated


@triton.jit
def computed(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """c = the sums of (2 a) @ (b + the rows of b before): the right operand is in scratch memory."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :]) * 2
    y = tl.cumsum(tl.load(b + k[:, None] * N + n[None, :]), 0)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=tl.float16))


def compiled_half(
    sizes: tuple[int, int, int, int], arch: str = XEON, step: int = 0, layout: tuple[bool, bool] = (False, False)
) -> CompiledKernel:
    """Returns `product` of fp16 with sums of fp16."""
    return compiled_product(FP16, sizes, arch, step, layout, total=FP16)


def multiplies_in(kernel: CompiledKernel) -> set[str]:
    """Returns the last letters of the FMA instructions of vectors: ph is fp16, ps f32."""
    return {found[1] for found in re.finditer(r"\bvfmadd\d+(p[hs])\b", kernel.asm["asm"])}


def rounded_product(a: torch.Tensor, b: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    """Returns the sums of fp16: each product is added, and the sum rounded, in the order of K.

    NumPy rounds an f64 once. Torch rounds it to f32 first.
    """
    x, y, rounded = a.double().numpy(), b.double().numpy(), total.half().numpy()
    for k in range(a.shape[-1]):
        rounded = (rounded + x[..., :, k : k + 1] * y[..., k : k + 1, :]).astype("f2")
    return torch.from_numpy(rounded)


def operands(sizes: tuple[int, int, int, int], most: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    batches, m, n, k = sizes
    shapes = ((batches, m, k), (batches, k, n), (batches, m, n))
    a, b, c = (torch.randint(-most, most + 1, shape).half() for shape in shapes)
    return a, b, c


def run_half(kernel: CompiledKernel, matrices: tuple[torch.Tensor, ...], layout: tuple[bool, bool], at: Path) -> None:
    """Runs `product`; on a machine without AVX512-FP16, LLVM translates it for another target."""
    a, b, c = matrices
    passed = (down(a) if layout[0] else a, down(b) if layout[1] else b, c)
    run_here(kernel, at, 1, passed)


def test_sums_of_fp16_are_the_callers_choice() -> None:
    """Other sums are f32, also where the CPU has AVX512-FP16."""
    sizes = (1, 16, 64, 64)
    assert multiplies_in(compiled_half(sizes)) == {"ph"}
    assert units_in(compiled_product(FP16, sizes, XEON)) == ["tdpbf16ps"]
    assert multiplies_in(compiled_product(FP16, sizes, f"{XEON};-amx-bf16")) == {"ps"}
    assert multiplies_in(compiled_half(sizes, OLDER)) == {"ps"}
    assert multiplies_in(compiled_half((1, 16, 4, 64))) == {"ps"}  # 8 bytes fill no vector


def test_amx_of_fp16_comes_first() -> None:
    kernel = compiled_half((1, 16, 32, 64), "graniterapids")
    assert "tdpfp16ps" in kernel.asm["asm"]
    assert not multiplies_in(kernel)
    assert multiplies_in(compiled_half((1, 8, 32, 64), "graniterapids")) == {"ph"}


LAYOUTS = [(False, False), (True, False), (False, True), (True, True)]
SIZES = [
    (1, 16, 32, 64),
    (1, 1, 16, 32),
    (1, 64, 128, 16),
    (1, 4, 8, 8),
    (2, 32, 64, 16),
    (4, 2, 32, 4),
    (1, 8, 64, 256),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_exact_sums(sizes: tuple[int, int, int, int], layout: tuple[bool, bool], tmp_path: Path) -> None:
    """Sums below 2,048 are exact."""
    matrices = operands(sizes, 2)
    expected = rounded_product(*matrices)
    assert torch.equal(expected.double(), matrices[0].double() @ matrices[1].double() + matrices[2].double())
    run_half(compiled_half(sizes, layout=layout), matrices, layout, tmp_path)
    assert torch.equal(matrices[2], expected)


@pytest.mark.parametrize("step", [256, 64, 16, 4])
def test_each_sum_is_rounded_in_the_order_of_k(step: int, tmp_path: Path) -> None:
    """So products that wait for later iterations have the same bits."""
    sizes = (1, 32, 64, 256)
    matrices = operands(sizes, 48)
    expected = rounded_product(*matrices)
    assert not torch.equal(expected.double(), matrices[0].double() @ matrices[1].double() + matrices[2].double())
    run_half(compiled_half(sizes, step=step), matrices, (False, False), tmp_path)
    assert torch.equal(matrices[2], expected)


@pytest.mark.parametrize("step", [256, 32])
def test_sums_of_any_numbers(step: int, tmp_path: Path) -> None:
    sizes = (1, 32, 64, 256)
    matrices = tuple(torch.randn(shape).half() for shape in ((1, 32, 256), (1, 256, 64), (1, 32, 64)))
    expected = rounded_product(*matrices)
    run_half(compiled_half(sizes, step=step), matrices, (False, False), tmp_path)
    assert torch.equal(matrices[2], expected)


def test_an_operand_in_scratch_memory(tmp_path: Path) -> None:
    m, n, k = 16, 64, 16
    a, b, c = torch.randint(-3, 4, (m, k)).half(), torch.randint(-3, 4, (k, n)).half(), torch.zeros(m, n).half()
    names = dict.fromkeys("abc", NAMES[FP16])
    kernel = compiled(computed, names, {"M": m, "N": n, "K": k}, XEON)
    run_here(kernel, tmp_path, 1, (a, b, c))
    assert torch.equal(c, rounded_product(2 * a, b.cumsum(0), torch.zeros(m, n)))


def test_the_error_is_that_of_k_roundings(tmp_path: Path) -> None:
    sizes = (1, 32, 64, 256)
    _, m, n, k = sizes
    a, b, c = torch.randn(1, m, k).half(), torch.randn(1, k, n).half(), torch.zeros(1, m, n).half()
    run_half(compiled_half(sizes), (a, b, c), (False, False), tmp_path)
    x, y = a.double(), b.double()
    assert ((c.double() - x @ y).abs() <= (k + 1) * 2**-11 * (x.abs() @ y.abs())).all()
