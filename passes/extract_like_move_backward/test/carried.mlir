// RUN: triton-linalg-opt %s -extract-like-move-backward -canonicalize -split-input-file | FileCheck %s

// The loop carries the slice, and not the tensor any more.
// CHECK-LABEL: func.func @slice
// CHECK-SAME: (%[[T:.*]]: tensor<64x64xf32>, %[[U:.*]]: tensor<64x64xf32>, %[[N:.*]]: index, %[[I:.*]]: index)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[T]][%[[I]], 4] [32, 1] [1, 1]
// CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[S]]) -> (tensor<32x1xf32>) {
// CHECK: %[[V:.*]] = tensor.extract_slice %[[U]][%[[I]], 4] [32, 1] [1, 1]
// CHECK: %[[M:.*]] = arith.subf %[[A]], %[[V]] : tensor<32x1xf32>
// CHECK: scf.yield %[[M]]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[L]] {{\[\[}}0, 1]] : tensor<32x1xf32> into tensor<32xf32>
// CHECK: return %[[C]]
func.func @slice(%t: tensor<64x64xf32>, %u: tensor<64x64xf32>, %n: index, %i: index) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %t) -> (tensor<64x64xf32>) {
    %s = arith.subf %acc, %u : tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %p = tensor.extract_slice %r[%i, 4] [32, 1] [1, 1] : tensor<64x64xf32> to tensor<32xf32>
  return %p : tensor<32xf32>
}

// -----

// An element of a carried tensor is a carried scalar, through two loops.
// CHECK-LABEL: func.func @element
// CHECK-SAME: (%[[T:.*]]: tensor<?xf32>, %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[I:.*]]: index)
// CHECK: %[[E:.*]] = tensor.extract %[[T]][%[[I]]]
// CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[E]]) -> (f32) {
// CHECK: %[[Y:.*]] = tensor.extract %[[X]][%[[I]]]
// CHECK: %[[M:.*]] = arith.mulf %[[A]], %[[Y]] : f32
// CHECK: scf.yield %[[M]]
// CHECK: %[[K:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[L]]) -> (f32) {
// CHECK: %[[Z:.*]] = tensor.extract %[[X]][%[[I]]]
// CHECK: %[[D:.*]] = arith.subf %[[Z]], %[[B]] : f32
// CHECK: scf.yield %[[D]]
// CHECK: return %[[K]]
func.func @element(%t: tensor<?xf32>, %x: tensor<?xf32>, %n: index, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %t) -> (tensor<?xf32>) {
    %s = arith.mulf %acc, %x : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  %q = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %r) -> (tensor<?xf32>) {
    %s = arith.subf %x, %acc : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  %p = tensor.extract %q[%i] : tensor<?xf32>
  return %p : f32
}

// -----

// The whole tensor is needed: by another user, to compute an element from another one, or to know which element is taken.
// CHECK-LABEL: func.func @whole
// CHECK-COUNT-3: scf.for {{.*}} -> (tensor<8xf32>)
// CHECK-NOT: scf.for
func.func @whole(%t: tensor<8xf32>, %o: memref<8xf32>, %n: index, %j: memref<index>) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %t) -> (tensor<8xf32>) {
    %s = arith.addf %acc, %t : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  %x = tensor.extract %a[%c0] : tensor<8xf32>
  bufferization.materialize_in_destination %a in writable %o : (tensor<8xf32>, memref<8xf32>) -> ()
  %b = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %t) -> (tensor<8xf32>) {
    %e = tensor.extract %acc[%c1] : tensor<8xf32>
    %f = tensor.splat %e : tensor<8xf32>
    %s = arith.addf %acc, %f : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  %y = tensor.extract %b[%c0] : tensor<8xf32>
  %c = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %t) -> (tensor<8xf32>) {
    %s = arith.addf %acc, %t : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  %i = memref.load %j[] : memref<index>
  %z = tensor.extract %c[%i] : tensor<8xf32>
  return %x, %y, %z : f32, f32, f32
}

// -----

// Elements of a tensor whose outermost size is dynamic.
// CHECK-LABEL: func.func @reshaped
// CHECK-SAME: (%[[T:.*]]: tensor<?x4xf32>, %[[I:.*]]: index)
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[R:.*]] = arith.remui %[[I]], %[[C4]]
// CHECK-DAG: %[[D:.*]] = arith.divui %[[I]], %[[C4]]
// CHECK: tensor.extract %[[T]][%[[D]], %[[R]]]
func.func @reshaped(%t: tensor<?x4xf32>, %i: index) -> f32 {
  %c = tensor.collapse_shape %t [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %x = tensor.extract %c[%i] : tensor<?xf32>
  return %x : f32
}
