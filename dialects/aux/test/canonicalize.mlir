// RUN: triton-ext-opt %s --load-extension=aux -canonicalize -cse -split-input-file | FileCheck %s

// Constants become static numbers; the type and the attributes stay.
// CHECK-LABEL: func.func @view_of_constants
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[N:.*]]: index)
// CHECK-NEXT: %[[V:.*]] = aux.view %[[P]] to offset: [5], sizes: [10, %[[N]]], strides: [8, 1] {cache_mode = "x", mine} : !llvm.ptr to memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK-NEXT: return %[[V]]
func.func @view_of_constants(%p: !llvm.ptr, %n: index) -> memref<?x?xf32, strided<[?, 1], offset: ?>> {
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %0 = aux.view %p to offset: [%c5], sizes: [%c10, %n], strides: [%c8, 1] {cache_mode = "x", mine}
      : !llvm.ptr to memref<?x?xf32, strided<[?, 1], offset: ?>>
  return %0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
}

// -----

// A negative offset stays a value, because the verifier rejects it as a number. A negative stride becomes a number.
// CHECK-LABEL: func.func @view_of_negative_offset
// CHECK: %[[C:.*]] = arith.constant -2 : index
// CHECK: offset: [%[[C]]], sizes: [4], strides: [-2]
func.func @view_of_negative_offset(%p: !llvm.ptr) -> memref<4xf32, strided<[?], offset: ?>> {
  %c = arith.constant -2 : index
  %0 = aux.view %p to offset: [%c], sizes: [4], strides: [%c] : !llvm.ptr to memref<4xf32, strided<[?], offset: ?>>
  return %0 : memref<4xf32, strided<[?], offset: ?>>
}

// -----

// A negative size stays a value, because the verifier rejects it as a number.
// CHECK-LABEL: func.func @view_of_negative_size
// CHECK: %[[C:.*]] = arith.constant -1 : index
// CHECK: sizes: [%[[C]]]
func.func @view_of_negative_size(%p: !llvm.ptr) -> memref<?xf32> {
  %c = arith.constant -1 : index
  %0 = aux.view %p to offset: [0], sizes: [%c], strides: [1] : !llvm.ptr to memref<?xf32>
  return %0 : memref<?xf32>
}

// -----

// Views and casts without users are removed; two equal ones are merged.
// CHECK-LABEL: func.func @pure
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr)
// CHECK-NEXT: %[[V:.*]] = aux.view
// CHECK-NEXT: return %[[V]], %[[V]]
func.func @pure(%p: !llvm.ptr) -> (memref<4xf32>, memref<4xf32>) {
  %0 = aux.view %p to offset: [0], sizes: [4], strides: [1] : !llvm.ptr to memref<4xf32>
  %1 = aux.view %p to offset: [0], sizes: [4], strides: [1] : !llvm.ptr to memref<4xf32>
  %2 = aux.bitcast_ext %p : !llvm.ptr to i64
  return %0, %1 : memref<4xf32>, memref<4xf32>
}

// -----

// Operations with a visible effect stay, even if two of them are equal.
// CHECK-LABEL: func.func @effects
// CHECK-COUNT-2: aux.print
// CHECK-COUNT-2: aux.scalar.print
// CHECK-COUNT-2: aux.optimization_barrier
// CHECK-COUNT-1: aux.store
func.func @effects(%t: tensor<4xf32>, %m: memref<4xf32>, %v: f32, %i: index) {
  %0 = aux.print(%t : tensor<4xf32>) -> (tensor<4xf32>)
  aux.print(%m : memref<4xf32>)
  aux.scalar.print(%v : f32)
  aux.scalar.print(%v : f32)
  aux.optimization_barrier %t : tensor<4xf32>
  aux.optimization_barrier %t : tensor<4xf32>
  aux.store %v, %m[%i] : memref<4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @bitcasts
// CHECK-SAME: (%[[A:.*]]: i64)
// CHECK-NEXT: %[[F:.*]] = aux.bitcast_ext %[[A]] : i64 to f64
// CHECK-NEXT: return %[[A]], %[[A]], %[[F]]
func.func @bitcasts(%a: i64) -> (i64, i64, f64) {
  %0 = aux.bitcast_ext %a : i64 to i64
  %1 = aux.bitcast_ext %a : i64 to !llvm.ptr
  %2 = aux.bitcast_ext %1 : !llvm.ptr to i64
  %3 = aux.bitcast_ext %1 : !llvm.ptr to f64
  return %0, %2, %3 : i64, i64, f64
}

// -----

// Casts of constants are folded, except casts to pointers, because a pointer cannot be a constant.
// CHECK-LABEL: func.func @casts_of_constants
// CHECK-DAG: %[[A:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[0, -32768]> : tensor<2xi16>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<15360> : tensor<4xi16>
// CHECK: %[[P:.*]] = aux.bitcast_ext %c0_i64 : i64 to !llvm.ptr
// CHECK: return %[[A]], %[[B]], %[[C]], %[[P]]
func.func @casts_of_constants() -> (f32, tensor<2xi16>, tensor<4xi16>, !llvm.ptr) {
  %a = arith.constant 1065353216 : i32
  %b = arith.constant dense<[0.0, -0.0]> : tensor<2xf16>
  %c = arith.constant dense<1.0> : tensor<4xf16>
  %z = arith.constant 0 : i64
  %0 = aux.bitcast_ext %a : i32 to f32
  %1 = aux.bitcast_ext %b : tensor<2xf16> to tensor<2xi16>
  %2 = aux.bitcast_ext %c : tensor<4xf16> to tensor<4xi16>
  %3 = aux.bitcast_ext %z : i64 to !llvm.ptr
  return %0, %1, %2, %3 : f32, tensor<2xi16>, tensor<4xi16>, !llvm.ptr
}

// -----

// Of two casts the first goes, whatever the width in between; a constant is cast only to elements of its width.
// CHECK-LABEL: func.func @widths
// CHECK-SAME: (%[[T:.*]]: tensor<8xi8>)
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1> : tensor<8xi8>
// CHECK-DAG: %[[A:.*]] = aux.bitcast_ext %[[T]] : tensor<8xi8> to tensor<4xf16>
// CHECK-DAG: %[[B:.*]] = aux.bitcast_ext %[[C]] : tensor<8xi8> to tensor<2xi32>
// CHECK: return %[[A]], %[[T]], %[[B]]
func.func @widths(%t: tensor<8xi8>) -> (tensor<4xf16>, tensor<8xi8>, tensor<2xi32>) {
  %c = arith.constant dense<1> : tensor<8xi8>
  %0 = aux.bitcast_ext %t : tensor<8xi8> to tensor<2xi32>
  %1 = aux.bitcast_ext %0 : tensor<2xi32> to tensor<4xf16>
  %2 = aux.bitcast_ext %0 : tensor<2xi32> to tensor<8xi8>
  %3 = aux.bitcast_ext %c : tensor<8xi8> to tensor<2xi32>
  return %1, %2, %3 : tensor<4xf16>, tensor<8xi8>, tensor<2xi32>
}
