// RUN: triton-linalg-opt %s -extract-like-move-backward -canonicalize -split-input-file | FileCheck %s

// The first element of pid * 128 + range is pid * 128.
// CHECK-LABEL: func.func @offset
// CHECK-SAME: (%[[A:.*]]: i32)
// CHECK-NEXT: return %[[A]] : i32
func.func @offset(%a: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c0_i32 = arith.constant 0 : i32
  %c128_i32 = arith.constant 128 : i32
  %e = tensor.empty() : tensor<128xi32>
  %r = linalg_ext.make_range ins(%c0_i32, %c128_i32 : i32, i32) outs(%e : tensor<128xi32>) -> tensor<128xi32>
  %f = linalg.fill ins(%a : i32) outs(%e : tensor<128xi32>) -> tensor<128xi32>
  %s = linalg.map { arith.addi } ins(%r, %f : tensor<128xi32>, tensor<128xi32>) outs(%e : tensor<128xi32>)
  %x = tensor.extract %s[%c0] : tensor<128xi32>
  return %x : i32
}

// -----

// Operations of arith on tensors become scalar operations; a splat constant becomes its element.
// CHECK-LABEL: func.func @arith
// CHECK-SAME: (%[[T:.*]]: tensor<4xi32>, %[[I:.*]]: index)
// CHECK-DAG: %[[C:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[X:.*]] = tensor.extract %[[T]][%[[I]]]
// CHECK: %[[R:.*]] = arith.muli %[[X]], %[[C]] : i32
// CHECK: return %[[R]]
func.func @arith(%t: tensor<4xi32>, %i: index) -> i32 {
  %c = arith.constant dense<7> : tensor<4xi32>
  %0 = arith.muli %t, %c : tensor<4xi32>
  %x = tensor.extract %0[%i] : tensor<4xi32>
  return %x : i32
}

// -----

// Through operations that change the shape: element (i, j) is element i of the vector.
// CHECK-LABEL: func.func @shapes
// CHECK-SAME: (%[[T:.*]]: tensor<4xf32>, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK: %[[X:.*]] = tensor.extract %[[T]][%[[I]]]
// CHECK: return %[[X]]
func.func @shapes(%t: tensor<4xf32>, %i: index, %j: index) -> f32 {
  %e = tensor.empty() : tensor<4x8xf32>
  %o = tensor.empty() : tensor<8x4xf32>
  %b = linalg.broadcast ins(%t : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %p = linalg.transpose ins(%b : tensor<4x8xf32>) outs(%o : tensor<8x4xf32>) permutation = [1, 0]
  %x = tensor.extract %p[%j, %i] : tensor<8x4xf32>
  return %x : f32
}

// -----

// CHECK-LABEL: func.func @reshape
// CHECK-SAME: (%[[T:.*]]: tensor<32xf32>)
// CHECK-DAG: %[[C:.*]] = arith.constant 19 : index
// CHECK: tensor.extract %[[T]][%[[C]]]
func.func @reshape(%t: tensor<32xf32>) -> f32 {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = tensor.expand_shape %t [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %x = tensor.extract %s[%c2, %c3] : tensor<4x8xf32>
  return %x : f32
}

// -----

// The indices before a reshape are computed with operations of arith.
// CHECK-LABEL: func.func @reshape_anywhere
// CHECK-SAME: (%[[T:.*]]: tensor<4x8xf32>, %[[L:.*]]: tensor<4xf32>, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[COLUMN:.*]] = arith.remui %[[I]], %[[C8]] : index
// CHECK-DAG: %[[ROW:.*]] = arith.divui %[[I]], %[[C8]] : index
// CHECK-DAG: %[[X:.*]] = tensor.extract %[[T]][%[[ROW]], %[[COLUMN]]]
// CHECK-DAG: %[[STARTS:.*]] = arith.muli %[[I]], %[[C2]] : index
// CHECK-DAG: %[[PLACE:.*]] = arith.addi %[[STARTS]], %[[J]] : index
// CHECK-DAG: %[[Y:.*]] = tensor.extract %[[L]][%[[PLACE]]]
// CHECK: return %[[X]], %[[Y]]
func.func @reshape_anywhere(%t: tensor<4x8xf32>, %l: tensor<4xf32>, %i: index, %j: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %a = tensor.collapse_shape %t [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %b = tensor.expand_shape %a [[0, 1]] output_shape [1, 32] : tensor<32xf32> into tensor<1x32xf32>
  %x = tensor.extract %b[%c0, %i] : tensor<1x32xf32>
  %c = tensor.expand_shape %l [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %y = tensor.extract %c[%i, %j] : tensor<2x2xf32>
  return %x, %y : f32, f32
}

// -----

// An element of loaded memory is extracted from the copy, which stays.
// CHECK-LABEL: func.func @loaded
// CHECK: %[[C:.*]] = linalg.copy
// CHECK: tensor.extract %[[C]]
func.func @loaded(%m: memref<8xf32>, %i: index) -> f32 {
  %t = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %c = linalg.copy ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %x = tensor.extract %c[%i] : tensor<8xf32>
  return %x : f32
}
