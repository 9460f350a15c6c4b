# SPDX-License-Identifier: Apache-2.0
"""Executes eight-bit floats, assertions, functions of a library, casts of pointers, and descriptors of the host."""

from __future__ import annotations

import ctypes
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

import triton_ext as tx
from support.linalg import execute

pytestmark = pytest.mark.usefixtures("stock")

FLOAT8 = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0}


@triton.jit
def convert(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, value.to(out.dtype.element_ty), mask=i < n)


def converted(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    out = torch.zeros(x.shape, dtype=dtype)
    with execute.through_linalg(at_end=True):
        convert[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
@pytest.mark.parametrize("wide", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_every_number_of_eight_bits(dtype: torch.dtype, wide: torch.dtype) -> None:
    """A cast to a wider type and back keeps all bits, except those of NaN, which stays NaN with its sign."""
    every = torch.arange(256, dtype=torch.uint8).view(dtype)
    there = converted(every, wide)
    torch.testing.assert_close(there, every.to(wide), rtol=0, atol=0, equal_nan=True)
    assert torch.equal(there.signbit(), every.to(wide).signbit())
    back = converted(there, dtype)
    numbers = ~every.float().isnan()
    assert torch.equal(back.view(torch.uint8)[numbers], every.view(torch.uint8)[numbers])
    assert back.float()[~numbers].isnan().all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_rounding_to_eight_bits(dtype: torch.dtype) -> None:
    """Casts round to nearest even: between two numbers, at the middle, and as near to the middle as f32 can be."""
    every = torch.arange(128, dtype=torch.uint8).view(dtype).float()
    low = every[every.isfinite()].sort().values
    middle = (low[:-1] + low[1:]) / 2
    near = [torch.nextafter(middle, torch.full_like(middle, to)) for to in (-torch.inf, torch.inf)]
    generator = torch.Generator().manual_seed(0)
    spread = torch.exp(torch.rand(2000, generator=generator) * 30 - 20)
    beyond = torch.tensor([1.0, 1.03, 1.04, 1.07, 1.1, 2.0, 1e30]) * FLOAT8[dtype]
    x = torch.cat([middle, *near, spread, beyond, torch.tensor([torch.inf, torch.nan, 1e-40])])
    x = torch.cat([x, -x])
    expected = x.to(dtype)
    got = converted(x, dtype)
    torch.testing.assert_close(got.float(), expected.float(), rtol=0, atol=0, equal_nan=True)
    numbers = ~expected.float().isnan()
    assert torch.equal(got.view(torch.uint8)[numbers], expected.view(torch.uint8)[numbers])


@triton.jit
def product(a, b, out, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, N), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(left, right))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_product_of_eight_bits(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(shape, generator=generator).to(dtype) for shape in ((16, 32), (32, 16)))
    out = torch.zeros(16, 16)
    with execute.through_linalg(at_end=True):
        product[(1,)](a, b, out, N=16, K=32)
    torch.testing.assert_close(out, a.float() @ b.float(), rtol=1e-5, atol=1e-5)


_ASSERTION = """
import sys, torch, triton, triton.language as tl
from support.linalg import execute

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.device_assert(n > 0, "n is positive")
    tl.device_assert(value < 5, "all are less than five")
    tl.store(out + i, value)

out = torch.zeros(4, dtype=torch.int32)
with execute.through_linalg(at_end=True):
    x = torch.arange(4, dtype=torch.int32) + {first}
    kernel[(1,)](x, out, {n}, BLOCK=4, debug={debug}, sanitize_overflow=False)
print(out.tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "n", "debug", "says"),
    [
        (0, 1, True, "[0, 1, 2, 3]"),
        (9, 0, False, "[9, 10, 11, 12]"),  # without this, there are no assertions
        (2, 1, True, "all are less than five"),
        (0, 0, True, "n is positive"),
    ],
)
def test_assertions(tmp_path: Path, first: int, n: int, debug: bool, says: str) -> None:
    done = execute.run_alone(_ASSERTION.format(first=first, n=n, debug=debug), tmp_path)
    assert says in done.stdout + done.stderr
    assert done.returncode == (0 if says.startswith("[") else -signal.SIGABRT), done.stderr


@triton.jit
def powers(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    exponent = libdevice.cos(tl.load(x))  # of one scalar
    tl.store(out + i, libdevice.pow(tl.load(x + i, mask=i < n, other=1.0), exponent), mask=i < n)


@pytest.mark.slow
def test_functions_of_a_library(tmp_path: Path) -> None:
    """The library comes when the kernel is linked: here one in C, which calls libm."""
    source = tmp_path / "libdevice.c"
    source.write_text(
        "#include <math.h>\nfloat __nv_cosf(float x) { return cosf(x); }\n"
        "float __nv_powf(float x, float y) { return powf(x, y); }\n"
    )
    lowered = tx.linalg.compile(powers, "*fp32, *fp32, i32, 64", lowered=True)
    assert "func.func private @__nv_powf(f32, f32) -> f32" in lowered
    function: Any = execute.build(execute.to_llvm(lowered), "powers", source).powers
    x, out = torch.rand(50) + 0.5, torch.zeros(50)
    memory = [execute.Guarded(t, at_end=True) for t in (x, out)]
    function(*(ctypes.c_int64(m.address) for m in memory), *map(ctypes.c_int32, (50, 1, 1, 1, 0, 0, 0)))
    memory[1].copy_back()
    torch.testing.assert_close(out, x.pow(torch.cos(x[0])), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_casts_of_pointers() -> None:
    """Casts a pointer to the bits of a number, and a tensor of bits to numbers. MLIR has no memref of pointers."""
    text = """
func.func @f(%p: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = aux.view %out to offset: [0], sizes: [4], strides: [1] : !llvm.ptr to memref<4xi64, strided<[1]>>
  %number = aux.bitcast_ext %p : !llvm.ptr to f64
  %bits = arith.bitcast %number : f64 to i64
  memref.store %bits, %m[%c0] : memref<4xi64, strided<[1]>>
  %t = tensor.from_elements %bits, %bits : tensor<2xi64>
  %numbers = aux.bitcast_ext %t : tensor<2xi64> to tensor<2xf64>
  %x = tensor.extract %numbers[%c1] : tensor<2xf64>
  %pointer = aux.bitcast_ext %x : f64 to !llvm.ptr
  %address = llvm.ptrtoint %pointer : !llvm.ptr to i64
  memref.store %address, %m[%c1] : memref<4xi64, strided<[1]>>
  return
}
"""
    lowered = tx.opt(text, "lower-linalg-ext{program-arguments=false}")
    function: Any = execute.build(execute.to_llvm(lowered), "f").f
    out = np.zeros(4, dtype=np.int64)
    function(ctypes.c_void_p(0x123456789ABC), ctypes.c_void_p(out.ctypes.data))
    assert out.tolist() == [0x123456789ABC, 0x123456789ABC, 0, 0]


@triton.jit
def reinterpret(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    bits = tl.load(x.to(tl.pointer_type(tl.int32), bitcast=True) + i, mask=i < n)
    tl.store(out + i, (bits & 0x7FFFFFFF).to(tl.float32, bitcast=True), mask=i < n)


@pytest.mark.slow
def test_bits_of_floats() -> None:
    x, out = torch.randn(40), torch.zeros(40)
    with execute.through_linalg(at_end=True):
        reinterpret[(1,)](x, out, 40, BLOCK=64)
    assert torch.equal(out, x.abs())


@triton.jit
def tiles_of_the_host(source, target, row, BLOCK: tl.constexpr):
    for column in range(0, 48, BLOCK):
        target.store([row, column], source.load([row, column]) * 2)


@pytest.mark.slow
@pytest.mark.parametrize("row", [0, 16, -5])
def test_descriptors_of_the_host(row: int) -> None:
    """A descriptor is a pointer, sizes, strides, how to pad and round, and again sizes and strides."""
    module = tx.linalg.compile(tiles_of_the_host, f"{'tensordesc<fp32[16, 16]>, ' * 2}i32, 16", lowered=True)
    function: Any = execute.build(execute.to_llvm(module), "tiles_of_the_host").tiles_of_the_host
    m, n = 21, 40  # the tiles do not divide this shape
    x, out = torch.randn(m, n), torch.zeros(m, n)
    memory = [execute.Guarded(t, at_end=True) for t in (x, out)]
    arguments: list[Any] = []
    for guarded in memory:
        strides = list(map(ctypes.c_int64, (n, 1)))
        arguments += [ctypes.c_int64(guarded.address), *map(ctypes.c_int64, (m, n)), *strides]
        arguments += [ctypes.c_bool(False), ctypes.c_bool(False), *map(ctypes.c_int32, (m, n)), *strides]
    function(*arguments, *map(ctypes.c_int32, (row, 1, 1, 1, 0, 0, 0)))
    memory[1].copy_back()
    expected = torch.zeros(m, n)
    rows = slice(max(row, 0), min(row + 16, m))
    expected[rows] = x[rows] * 2
    assert torch.equal(out, expected)


@triton.jit
def swap(x, old, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    expected = i.to(x.dtype.element_ty)
    tl.store(old + i, tl.atomic_cas(x + (i ^ 1), expected, tl.load(old + i)))


@pytest.mark.parametrize("kind", ["*i32", "*i64", "*fp32"])
def test_compare_and_swap_frees_its_memory(kind: str) -> None:
    """MLIR's deallocation passes accept the module, and free as much as it allocates."""
    if kind == "*fp32":
        lowered = tx.opt(_SWAP_OF_FLOATS, "lower-linalg-ext{program-arguments=false}")
    else:
        lowered = tx.linalg.compile(swap, {"x": kind, "old": kind, "BLOCK": 32}, lowered=True)
    assert lowered.count("llvm.cmpxchg") == 1
    dialect = execute.to_llvm(lowered)
    assert dialect.count("llvm.call @malloc") == dialect.count("llvm.call @free") > 0


_SWAP_OF_FLOATS = """
func.func @f(%m: memref<8xf32>, %e: tensor<8xf32>, %v: tensor<8xf32>, %out: memref<8xf32>) {
  %o = tensor.empty() : tensor<8xf32>
  %0 = linalg_ext.atomic_cas relaxed ins(%e, %v : tensor<8xf32>, tensor<8xf32>)
      outs(%m, %o : memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
"""


@triton.jit
def inline_ptx(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    square = tl.inline_asm_elementwise("fma.rn.f32 $0, $1, $1, $1;", "=f,f", [v], tl.float32, True, 1)
    most = tl.inline_asm_elementwise(
        "{ .reg .pred p; setp.lt.s32 p, $1, 100; selp.b32 $0, $1, 100, p; }",
        "=r,r",
        [v.to(tl.int32)],
        tl.int32,
        True,
        1,
    )
    swapped = tl.inline_asm_elementwise(
        "prmt.b32 $0, $1, 0, 0x0123;", "=r,r", [v.to(tl.int32, bitcast=True)], tl.int32, True, 1
    )
    tl.store(out + i, square)
    tl.store(out + BLOCK + i, most.to(tl.float32))
    tl.store(out + 2 * BLOCK + i, swapped.to(tl.float32, bitcast=True))


@pytest.mark.slow
def test_inline_ptx() -> None:
    x = torch.arange(256, dtype=torch.float32) - 20
    out = torch.zeros(3 * 256)
    with execute.through_linalg(at_end=True):
        inline_ptx[(1,)](x, out, BLOCK=256)
    assert torch.equal(out[:256], x * x + x)
    assert torch.equal(out[256:512], x.clamp(max=100))
    assert out[512:].numpy().view(">i4").tolist() == x.numpy().view("<i4").tolist()
