# SPDX-License-Identifier: Apache-2.0
"""Which products and sums are rounded once depends on the operations that compute a number, and on nothing else."""

from __future__ import annotations

import ctypes

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

pytestmark = pytest.mark.keeps_kernels

N = 64


def fused(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Returns x * y + z, rounded once, by the C library."""
    name, number = ("fma", ctypes.c_double) if x.dtype is torch.float64 else ("fmaf", ctypes.c_float)
    function = getattr(ctypes.CDLL("libm.so.6"), name)
    function.restype, function.argtypes = number, [number] * 3
    values = [function(*each) for each in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
    return torch.tensor(values, dtype=x.dtype)


ROWS = tl.constexpr(64)


@triton.jit
def combine(o, x, y, z, FORM: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x, y, z = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    if FORM == "x * y + z":
        r = x * y + z
    elif FORM == "x * y - z":
        r = x * y - z
    elif FORM == "z - x * y":
        r = z - x * y
    else:  # the product is stored, too
        p = x * y
        tl.store(o + ROWS * N + i, p)
        r = p + z
    tl.store(o + i, r)


#: For each form, what it is, rounded once and twice.
FORMS = {
    "x * y + z": (fused, lambda x, y, z: x * y + z),
    "x * y - z": (lambda x, y, z: fused(x, y, -z), lambda x, y, z: x * y - z),
    "z - x * y": (lambda x, y, z: fused(-x, y, z), lambda x, y, z: z - x * y),
    "both": (fused, lambda x, y, z: x * y + z),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounded_once(form: str, dtype: torch.dtype) -> None:
    x, y, z = torch.randn(3, ROWS.value * N, dtype=dtype)
    out = torch.empty(2 * ROWS.value * N, dtype=dtype)
    combine[(ROWS.value,)](out, x, y, z, FORM=form, N=N)
    got, product = out.chunk(2)
    once, twice = FORMS[form]
    assert torch.equal(got, once(x, y, z)) and not torch.equal(got, twice(x, y, z))
    assert form != "both" or torch.equal(product, x * y)


def test_rounded_twice() -> None:
    x, y, z = torch.randn(3, ROWS.value * N)
    out = torch.empty(2 * ROWS.value * N)
    combine[(ROWS.value,)](out, x, y, z, FORM="x * y + z", N=N, enable_fp_fusion=False)
    assert torch.equal(out.chunk(2)[0], x * y + z)


@pytest.mark.parametrize(("target", "rounds_once"), [("haswell", True), ("x86-64", False)])
def test_rounded_as_the_target_can(target: str, rounds_once: bool) -> None:
    signature = dict.fromkeys("oxyz", "*fp32") | {"FORM": "constexpr", "N": "constexpr"}
    source = ASTSource(combine, signature=signature, constexprs={"FORM": "x * y + z", "N": N})
    assembly = triton.compile(source, target=GPUTarget("cpu", target, 1)).asm["asm"]
    assert ("vfmadd" in assembly) == rounds_once
    assert ("mulps" in assembly) != rounds_once and "fmaf" not in assembly


@triton.jit
def variances(o, x, seen, n, WATCHED: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * n
    total = tl.zeros((N,), tl.float32)
    squares = tl.zeros((N,), tl.float32)
    for start in range(0, n, N):
        v = tl.load(x + row + start + tl.arange(0, N))
        total += v
        squares += v * v
    mean = tl.sum(total, 0) / n
    if WATCHED and mean > 1e30:
        tl.store(seen, 1)
    tl.store(o + tl.program_id(0), tl.sum(squares, 0) / n - mean * mean)


def test_a_branch_changes_no_bits() -> None:
    """Without the branch, LLVM divides both sums by one instruction."""
    x, seen = torch.randn(4096, 2 * N), torch.zeros(1, dtype=torch.int32)
    plain, watched = torch.empty(2, 4096)
    variances[(4096,)](plain, x, seen, 2 * N, WATCHED=False, N=N)
    variances[(4096,)](watched, x, seen, 2 * N, WATCHED=True, N=N)
    assert torch.equal(plain, watched)
