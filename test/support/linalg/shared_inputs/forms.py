# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - an operation is one line
"""Inputs that are IR and have tensors, or numbers, as arguments and results. They are converted down to LLVM's dialect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """A module, and the tests of triton-shared that have the same."""

    names: tuple[str, ...]
    module: str


FORMS = {
    "tensors_of_pointers_as_arguments": Form(
        ("batched_matmul", "convert_1d_elemwise_arith_unary", "convert_2d_elemwise_arith_unary"),
        """
tt.func @f(%a: tensor<2x4x8x!tt.ptr<bf16>>, %b: tensor<2x8x4x!tt.ptr<bf16>>, %c: tensor<2x4x4x!tt.ptr<bf16>>) {
  %0 = tt.load %a : tensor<2x4x8x!tt.ptr<bf16>>
  %1 = tt.load %b : tensor<2x8x4x!tt.ptr<bf16>>
  %2 = tt.load %c : tensor<2x4x4x!tt.ptr<bf16>>
  %3 = tt.dot %0, %1, %2 : tensor<2x4x8xbf16> * tensor<2x8x4xbf16> -> tensor<2x4x4xbf16>
  tt.store %c, %3 : tensor<2x4x4x!tt.ptr<bf16>>
  tt.return
}
""",
    ),
    "two_numbers_as_results": Form(
        ("reduce_multi_result_negative", "use-alloc-tensor-option"),
        """
tt.func public @f(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (f32, f32) {
  %r:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.addf %b, %c : f32
    %t = arith.addf %a, %d : f32
    tt.reduce.return %s, %t : f32, f32
  }) : (tensor<64xf32>, tensor<64xf32>) -> (f32, f32)
  tt.return %r#0, %r#1 : f32, f32
}
""",
    ),
    "a_byte_and_its_place_as_results": Form(
        ("convert_int_argmin_with_indices", "convert_argmin_integer"),
        """
tt.func public @f(%x: tensor<32xi8>, %at: tensor<32xi32>) -> (i8, i32) attributes {noinline = false} {
  %r:2 = "tt.reduce"(%x, %at) ({
  ^bb0(%a: i8, %i: i32, %b: i8, %j: i32):
    %equal = arith.cmpi eq, %a, %b : i8
    %before = arith.cmpi slt, %i, %j : i32
    %tie = arith.andi %equal, %before : i1
    %less = arith.cmpi slt, %a, %b : i8
    %first = arith.ori %less, %tie : i1
    %v = arith.select %first, %a, %b : i8
    %k = arith.select %first, %i, %j : i32
    tt.reduce.return %v, %k : i8, i32
  }) {axis = 0 : i32} : (tensor<32xi8>, tensor<32xi32>) -> (i8, i32)
  tt.return %r#0, %r#1 : i8, i32
}
""",
    ),
    "two_tensors_as_results": Form(
        ("reduce_multi_result", "reduce_multi_result_mixed_ops", "convert_argmin_argmax_3d"),
        """
tt.func public @f(%x: tensor<4x8x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %squares = arith.mulf %x, %x : tensor<4x8x16xf32>
  %r:2 = "tt.reduce"(%x, %squares) <{axis = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.addf %a, %c : f32
    %t = arith.mulf %b, %d : f32
    tt.reduce.return %s, %t : f32, f32
  }) : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  tt.return %r#0, %r#1 : tensor<4x8xf32>, tensor<4x8xf32>
}
""",
    ),
    "calls_that_return_a_number": Form(
        ("call_empty_args", "call"),
        """
tt.func @g(%x: !tt.ptr<f32>) -> f32 {
  %v = tt.load %x : !tt.ptr<f32>
  tt.return %v : f32
}
tt.func @h() -> f32 {
  %v = arith.constant 42.0 : f32
  tt.return %v : f32
}
tt.func @f(%x: !tt.ptr<f32>) -> f32 {
  %v = tt.call @g(%x) : (!tt.ptr<f32>) -> f32
  %w = tt.call @h() : () -> f32
  %r = arith.addf %v, %w : f32
  tt.return %r : f32
}
""",
    ),
    "spellings_of_older_versions": Form(
        ("block_ptr_advance", "convert_tensor_reshape", "convert_1d_elemwise_arith_binary"),
        """
tt.func @f(%p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f32>>) {
  %v = tt.load %p {cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<8x!tt.ptr<f32>>
  %c = arith.cmpf "oeq", %v, %v : tensor<8xf32>
  %r = tt.reshape %v allow_reorder : tensor<8xf32> -> tensor<2x4xf32>
  %s = tt.reshape %r allow_reorder : tensor<2x4xf32> -> tensor<8xf32>
  tt.store %q, %s, %c : tensor<8x!tt.ptr<f32>>
  tt.return
}
""",
    ),
    "masks_as_arguments": Form(
        ("triton_assert", "atomic_rmw"),
        """
tt.func public @f(%x: !tt.ptr<f32>, %v: tensor<4x4xf32>, %at: tensor<4x4xi32>, %mask: tensor<4x4xi1>) -> tensor<4x4xf32> {
  tt.assert %mask, "message" : tensor<4x4xi1>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<4x4x!tt.ptr<f32>>
  %q = tt.addptr %p, %at : tensor<4x4x!tt.ptr<f32>>, tensor<4x4xi32>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %mask : (tensor<4x4x!tt.ptr<f32>>, tensor<4x4xf32>, tensor<4x4xi1>) -> tensor<4x4xf32>
  tt.return %old : tensor<4x4xf32>
}
""",
    ),
}
