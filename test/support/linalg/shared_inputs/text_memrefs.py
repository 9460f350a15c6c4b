# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - an operation is one line
"""Inputs that are IR and have memrefs, or operations of `ptr`, already; see texts.py."""

from __future__ import annotations

from typing import Any

import torch

from support.linalg.shared_inputs.texts import add, integers, pointers, range_of

add(
    "pointers_between_memrefs",
    "ptr_into_memref",
    module="""
func.func @f(%x: memref<*xi32>, %out: memref<*xi32>) {
  %size = ptr.type_offset i32 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : index
  %0 = builtin.unrealized_conversion_cast %out : memref<*xi32> to !tt.ptr<i32>
  %1 = builtin.unrealized_conversion_cast %0 : !tt.ptr<i32> to !ptr.ptr<#ptr.generic_space>
  %2 = builtin.unrealized_conversion_cast %x : memref<*xi32> to !tt.ptr<i32>
  %3 = builtin.unrealized_conversion_cast %2 : !tt.ptr<i32> to !ptr.ptr<#ptr.generic_space>
  %bytes = arith.muli %c1, %size : i32
  %4 = ptr.ptr_add %3, %bytes : !ptr.ptr<#ptr.generic_space>, i32
  %5 = builtin.unrealized_conversion_cast %4 : !ptr.ptr<#ptr.generic_space> to !tt.ptr<i64>
  %6 = builtin.unrealized_conversion_cast %5 : !tt.ptr<i64> to memref<*xi64>
  %from = memref.reinterpret_cast %6 to offset: [%c2], sizes: [16], strides: [1] : memref<*xi64> to memref<16xi64, strided<[1], offset: ?>>
  %copy = memref.alloc() : memref<16xi64>
  memref.copy %from, %copy : memref<16xi64, strided<[1], offset: ?>> to memref<16xi64>
  %v = bufferization.to_tensor %copy restrict writable : memref<16xi64> to tensor<16xi64>
  %7 = ptr.ptr_add %1, %bytes : !ptr.ptr<#ptr.generic_space>, i32
  %8 = builtin.unrealized_conversion_cast %7 : !ptr.ptr<#ptr.generic_space> to !tt.ptr<i64>
  %9 = builtin.unrealized_conversion_cast %8 : !tt.ptr<i64> to memref<*xi64>
  %to = memref.reinterpret_cast %9 to offset: [%c2], sizes: [16], strides: [1] : memref<*xi64> to memref<16xi64, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %v in writable %to : (tensor<16xi64>, memref<16xi64, strided<[1], offset: ?>>) -> ()
  return
}
""",
    pipeline="reconcile-ptr-casts,lower-tptr,cse,lower-linalg-ext",
    arguments=lambda g: (integers(g, 37), torch.zeros(37, dtype=torch.int32)),
    expected=lambda x, out: torch.cat([out[:5], x[5:]]),
)

#: What both ways of a sum of two arrays have in common: 41 of a block of 64.
_SUM_OF_41: dict[str, Any] = {
    "ways": ("memref",),
    "arguments": lambda g: (
        torch.randn(41, generator=g),
        torch.randn(41, generator=g),
        torch.tensor([41], dtype=torch.int32),
        torch.zeros(41),
    ),
    "expected": lambda x, y, n, out: x + y,
}

#: What structured_to_memref leaves: views of memrefs that pointers are cast to.
_VIEW = """
  %{name} = memref.reinterpret_cast %{base} to offset: [%start], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %{name}part = memref.subview %{name}[0] [%count] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>"""
_LOAD = """
  %{name}copy = memref.alloc() : memref<64xf32>
  %{name}in = memref.subview %{name}copy[0] [%count] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
  memref.copy %{name}part, %{name}in : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
  %{name}v = bufferization.to_tensor %{name}copy restrict writable : memref<64xf32> to tensor<64xf32>"""

add(
    "views_of_casted_pointers",
    "post_structured_to_memref",
    module=f"""
func.func public @f(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: !tt.ptr<i32>, %out: !tt.ptr<f32>) {{
  %0 = builtin.unrealized_conversion_cast %out : !tt.ptr<f32> to memref<*xf32>
  %1 = builtin.unrealized_conversion_cast %y : !tt.ptr<f32> to memref<*xf32>
  %2 = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to memref<*xf32>
  %c64 = arith.constant 64 : index
  %c64_i32 = arith.constant 64 : i32
  %size = tt.load %n : !tt.ptr<i32>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c64_i32 : i32
  %start = arith.index_cast %first : i32 to index
  %end = arith.addi %start, %c64 : index
  %all = arith.index_cast %size : i32 to index
  %least = arith.minsi %end, %all : index
  %count = arith.subi %least, %start : index
  {_VIEW.format(name="p", base=2)}
  {_LOAD.format(name="p")}
  {_VIEW.format(name="q", base=1)}
  {_LOAD.format(name="q")}
  {_VIEW.format(name="r", base=0)}
  %sum = arith.addf %pv, %qv : tensor<64xf32>
  %s = tensor.extract_slice %sum[0] [%count] [1] : tensor<64xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %s in writable %rpart : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}}
""",
    **_SUM_OF_41,
)

#: What unstructured_to_memref leaves: each element by its index.
_GATHER = """
  %{name}m = memref.cast %{base} : memref<*xf32> to memref<?xf32>
  %{name}t = bufferization.to_tensor %{name}m restrict : memref<?xf32> to tensor<?xf32>
  %{name}e = tensor.empty() : tensor<64xf32>
  %{name}v = linalg.generic {{indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}} ins(%at, %mask : tensor<64xi32>, tensor<64xi1>) outs(%{name}e : tensor<64xf32>) {{
  ^bb0(%i: i32, %b: i1, %o: f32):
    %r = scf.if %b -> (f32) {{
      %k = arith.index_cast %i : i32 to index
      %v = tensor.extract %{name}t[%k] : tensor<?xf32>
      scf.yield %v : f32
    }} else {{
      %z = arith.constant 0.0 : f32
      scf.yield %z : f32
    }}
    linalg.yield %r : f32
  }} -> tensor<64xf32>"""

add(
    "elements_of_casted_pointers",
    "post_triton_load_store_to_memref",
    module=f"""
#map = affine_map<(d0) -> (d0)>
func.func public @f(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: !tt.ptr<i32>, %out: !tt.ptr<f32>) {{
  %0 = builtin.unrealized_conversion_cast %out : !tt.ptr<f32> to memref<*xf32>
  %1 = builtin.unrealized_conversion_cast %y : !tt.ptr<f32> to memref<*xf32>
  %2 = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to memref<*xf32>
  %size = tt.load %n : !tt.ptr<i32>
  %at = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
  %below = tt.splat %size : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %at, %below : tensor<64xi32>
  {_GATHER.format(name="p", base=2)}
  {_GATHER.format(name="q", base=1)}
  %sum = arith.addf %pv, %qv : tensor<64xf32>
  %to = memref.cast %0 : memref<*xf32> to memref<?xf32>
  affine.for %i = 0 to 64 {{
    %b = tensor.extract %mask[%i] : tensor<64xi1>
    scf.if %b {{
      %v = tensor.extract %sum[%i] : tensor<64xf32>
      %k = tensor.extract %at[%i] : tensor<64xi32>
      %j = arith.index_cast %k : i32 to index
      memref.store %v, %to[%j] : memref<?xf32>
    }}
  }}
  return
}}
""",
    **_SUM_OF_41,
)

add(
    "function_of_mlir_on_pointers",
    "func",
    module=f"""
func.func public @f(%x: !tt.ptr<f32>, %n: !tt.ptr<i32>, %out: !tt.ptr<f32>) {{
  %size = tt.load %n : !tt.ptr<i32>
  {range_of(64)}
  %below = tt.splat %size : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %i, %below : tensor<64xi32>
  {pointers("x", "p", 64, "f32")}
  {pointers("out", "q", 64, "f32")}
  %v = tt.load %ps, %mask : tensor<64x!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<64xf32>
  tt.store %qs, %w, %mask : tensor<64x!tt.ptr<f32>>
  return
}}
""",
    ways=("memref",),
    arguments=lambda g: (torch.randn(41, generator=g), torch.tensor([41], dtype=torch.int32), torch.zeros(41)),
    expected=lambda x, n, out: x + x,
)
