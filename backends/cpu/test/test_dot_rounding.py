# SPDX-License-Identifier: Apache-2.0
"""Operands of products that are rounded from f32 to bf16 while they are packed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from support.cpu import emulated_units
from support.cpu.dots import BF16, FP16, HERE, NAMES, compiled, units_in

pytestmark = pytest.mark.keeps_kernels

#: The CPUs that this machine can run, and one with AMX, which is emulated elsewhere.
ARCHES = sorted({"sapphirerapids", *HERE})


@triton.jit
def rounded(x, y, out, N: tl.constexpr):
    """The product of x, rounded to the type of y, and the identity matrix y."""
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.dot(tl.load(x + at).to(y.dtype.element_ty), tl.load(y + at)))


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("dtype", [BF16, FP16], ids=str)
def test_operands_are_rounded_to_the_nearest(dtype: torch.dtype, arch: str, tmp_path: Path) -> None:
    n = 32
    bits = torch.arange(-(2**31), 2**31, 2**32 // n, dtype=torch.int64)[:, None] + torch.randint(0, 2**27, (n, n))
    x = bits.to(torch.int32).view(torch.float32)
    least, most = (2.0**-126, 2.0**100) if dtype == BF16 else (2.0**-14, 2.0**15)
    x = x.where(x.isfinite() & (x.abs() >= least) & (x.abs() < most), 1 + 2.0**-8)
    for tie in (2**-8, 2**-11):
        x[0, :4] = torch.tensor([1 + tie, 1 + 3 * tie, 1 + tie + 2**-20, -1 - tie + 2**-20])
        x = x.roll(1, 0)
    out = torch.full((n, n), 7.0)
    kernel = compiled(rounded, {"x": "*fp32", "y": NAMES[dtype], "out": "*fp32"}, {"N": n}, arch)
    assert ("vcvtneps2bf16" in kernel.asm["asm"]) == (dtype == BF16 and "bf16" in str(units_in(kernel)))
    run = emulated_units.run if arch in HERE else emulated_units.run_emulated
    run(kernel, tmp_path, 1, (x, torch.eye(n).to(dtype), out))
    assert torch.equal(out, x.to(dtype).float())


@triton.jit
def overwritten(x, out, N: tl.constexpr):
    """The product of a stored tensor and itself, behind a store to what it was computed from."""
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    powers = (1 / tl.load(x + at)).to(tl.bfloat16)
    tl.store(x + at, tl.full((N, N), 1.0, tl.float32))
    tl.store(out + at, tl.dot(powers.T, powers))


@pytest.mark.parametrize("arch", ARCHES)
def test_a_stored_operand_is_not_computed_again(arch: str, tmp_path: Path) -> None:
    n = 32
    powers, out = torch.exp2(torch.randint(-2, 3, (n, n)).float()), torch.zeros(n, n)
    x = 1 / powers
    kernel = compiled(overwritten, {"x": "*fp32", "out": "*fp32"}, {"N": n}, arch)
    run = emulated_units.run if arch in HERE else emulated_units.run_emulated
    run(kernel, tmp_path, 1, (x, out))
    assert torch.equal(out, powers.mT @ powers)


@pytest.mark.parametrize("arch", ARCHES)
def test_an_operand_of_f64_is_rounded_once(arch: str, tmp_path: Path) -> None:
    n = 32
    tie = 1 + 2.0**-8
    x = torch.full((n, n), tie, dtype=torch.float64) + torch.randint(-1, 2, (n, n)) * 2.0**-40
    out = torch.full((n, n), 7.0)
    kernel = compiled(rounded, {"x": "*fp64", "y": "*bf16", "out": "*fp32"}, {"N": n}, arch)
    run = emulated_units.run if arch in HERE else emulated_units.run_emulated
    run(kernel, tmp_path, 1, (x, torch.eye(n).bfloat16(), out))
    assert torch.equal(out, torch.where(x > tie, 1 + 2.0**-7, 1.0))
