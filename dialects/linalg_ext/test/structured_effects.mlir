// RUN: triton-ext-opt %s --load-extension=linalg_ext -canonicalize -cse | FileCheck %s

// Operations on tensors can be removed and merged; operations that write memory stay.

// CHECK-LABEL: func.func @on_tensors
// CHECK-COUNT-1: linalg_ext.reduce_sum
// CHECK-NOT: linalg_ext
// CHECK: return %[[R:.*]], %[[R]] :
func.func @on_tensors(%t: tensor<4x8xf32>, %o: tensor<4xf32>, %k: index, %i: tensor<1x8x8x4xf32>,
                      %c: tensor<1x6x6x3x3x4xf32>, %j: tensor<4x8xi32>, %p: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg_ext.tri ins(%k : index) outs(%t : tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = linalg_ext.im2col strides = [1, 1] dilations = [1, 1] ins(%i : tensor<1x8x8x4xf32>)
      outs(%c : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  %4:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%t, %j : tensor<4x8xf32>, tensor<4x8xi32>)
      outs(%o, %p : tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>, tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @on_memory
// CHECK: linalg_ext.atomic_rmw
// CHECK: linalg_ext.atomic_rmw
// CHECK: linalg_ext.atomic_cas
// CHECK: linalg_ext.tri
// CHECK: linalg_ext.reduce_max
func.func @on_memory(%v: tensor<8xi32>, %m: memref<8xi32>, %k: index, %o: memref<8x8xi1>, %s: memref<i32>) {
  %0 = linalg_ext.atomic_rmw addi acq_rel ins(%v : tensor<8xi32>) outs(%m, %v : memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %1 = linalg_ext.atomic_rmw addi acq_rel ins(%v : tensor<8xi32>) outs(%m, %v : memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %2 = linalg_ext.atomic_cas acq_rel ins(%v, %v : tensor<8xi32>, tensor<8xi32>) outs(%m, %v : memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  linalg_ext.tri ins(%k : index) outs(%o : memref<8x8xi1>)
  linalg_ext.reduce_max dimensions = [0] ins(%m : memref<8xi32>) outs(%s : memref<i32>)
  return
}
