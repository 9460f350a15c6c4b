# SPDX-License-Identifier: Apache-2.0
"""Constant tensors of unequal elements. Folding creates them, but kernels cannot write them, so these tests are IR."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
from triton.runtime.driver import driver

TYPES = {
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}


def run(tmp_path: Path, ir: str, *arguments: torch.Tensor) -> str:
    """Compiles and launches a function, and returns its lowered form."""
    path = tmp_path / "kernel.ttir"
    path.write_text(ir)
    kernel = triton.compile(str(path), target=driver.active.get_current_target())
    kernel[(1, 1, 1)](*arguments)
    return str(kernel.asm["cpuir"])


def literal(x: torch.Tensor) -> str:
    """Returns the tensor as a literal of MLIR, such as ``[[1, 2], [3, 4]]``."""
    if x.ndim:
        return "[" + ", ".join(literal(row) for row in x) + "]"
    return f"{x.item():.17e}" if x.dtype.is_floating_point else str(x.item())


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("size", [2, 8, 64])
def test_every_type(tmp_path: Path, name: str, size: int) -> None:
    dtype = TYPES[name]
    x = torch.randn(size).mul(50)
    x[:2] = torch.tensor([1.0, -3.0])  # a constant of equal elements would not become a table
    x = x.to(dtype)
    out = torch.zeros(size, dtype=dtype)
    ir = f"""
tt.func public @kernel(%out: !tt.ptr<{name}>) attributes {{noinline = false}} {{
  %c = arith.constant dense<{literal(x)}> : tensor<{size}x{name}>
  %i = tt.make_range {{start = 0 : i32, end = {size} : i32}} : tensor<{size}xi32>
  %p = tt.splat %out : !tt.ptr<{name}> -> tensor<{size}x!tt.ptr<{name}>>
  %at = tt.addptr %p, %i : tensor<{size}x!tt.ptr<{name}>>, tensor<{size}xi32>
  tt.store %at, %c : tensor<{size}x!tt.ptr<{name}>>
  tt.return
}}
"""
    lowered = run(tmp_path, ir, out)
    assert torch.equal(out, x)
    assert "llvm.mlir.global internal constant" in lowered


def test_as_mask_offsets_and_addend(tmp_path: Path) -> None:
    """Uses constants as the indices of a gather, as a mask, and, transposed, as an operand of an addition."""
    order, mask = torch.randperm(16, dtype=torch.int32), torch.randint(0, 2, (16,)).bool()
    addend = torch.randn(4, 4)
    x, out, sums = torch.randn(16), torch.full((16,), -1.0), torch.zeros(4)
    ir = f"""
tt.func public @kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %sums: !tt.ptr<f32>) attributes {{noinline = false}} {{
  %order = arith.constant dense<{literal(order)}> : tensor<16xi32>
  %mask = arith.constant dense<{str(mask.tolist()).lower()}> : tensor<16xi1>
  %addend = arith.constant dense<{literal(addend)}> : tensor<4x4xf32>
  %i = tt.make_range {{start = 0 : i32, end = 16 : i32}} : tensor<16xi32>
  %px = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %from = tt.addptr %px, %order : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %po = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %to = tt.addptr %po, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %from : tensor<16x!tt.ptr<f32>>
  %square = tt.reshape %v : tensor<16xf32> -> tensor<4x4xf32>
  %turned = tt.trans %addend {{order = array<i32: 1, 0>}} : tensor<4x4xf32> -> tensor<4x4xf32>
  %sum = arith.addf %square, %turned : tensor<4x4xf32>
  %flat = tt.reshape %sum : tensor<4x4xf32> -> tensor<16xf32>
  tt.store %to, %flat, %mask : tensor<16x!tt.ptr<f32>>
  %rows = "tt.reduce"(%sum) <{{axis = 1 : i32}}> ({{
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }}) : (tensor<4x4xf32>) -> tensor<4xf32>
  %j = tt.make_range {{start = 0 : i32, end = 4 : i32}} : tensor<4xi32>
  %ps = tt.splat %sums : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %ats = tt.addptr %ps, %j : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %ats, %rows : tensor<4x!tt.ptr<f32>>
  tt.return
}}
"""
    run(tmp_path, ir, x, out, sums)
    sum_ = x[order.long()].view(4, 4) + addend.t()
    assert torch.equal(out, torch.where(mask, sum_.flatten(), torch.tensor(-1.0)))
    torch.testing.assert_close(sums, sum_.sum(1))


def test_carried_by_a_loop(tmp_path: Path) -> None:
    """A loop moves the pointer of each lane by a different distance, so it cannot carry one scalar for all lanes."""
    steps = torch.tensor([1, 2, 3, 4], dtype=torch.int32)
    x, out = torch.arange(64.0), torch.zeros(4)
    ir = f"""
tt.func public @kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) attributes {{noinline = false}} {{
  %steps = arith.constant dense<{literal(steps)}> : tensor<4xi32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %i = tt.make_range {{start = 0 : i32, end = 4 : i32}} : tensor<4xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %po = tt.splat %out : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %to = tt.addptr %po, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %sum, %end = scf.for %k = %c0 to %c5 step %c1
      iter_args(%acc = %zero, %at = %p) -> (tensor<4xf32>, tensor<4x!tt.ptr<f32>>) : i32 {{
    %v = tt.load %at : tensor<4x!tt.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<4xf32>
    %moved = tt.addptr %at, %steps : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    scf.yield %next, %moved : tensor<4xf32>, tensor<4x!tt.ptr<f32>>
  }}
  tt.store %to, %sum : tensor<4x!tt.ptr<f32>>
  tt.return
}}
"""
    run(tmp_path, ir, x, out)
    assert torch.equal(out, 10.0 * steps)
