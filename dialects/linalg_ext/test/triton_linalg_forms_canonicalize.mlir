// RUN: triton-ext-opt %s --load-extension=linalg_ext -canonicalize -cse | FileCheck %s

// The result of an assertion that is removed is replaced by its operand.
// CHECK-LABEL: func.func @assert_of_true
// CHECK-SAME: (%[[E:[^:]*]]: tensor<0xi32>)
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1> : tensor<4xi32>
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2> : tensor<4xi32>
// CHECK-NOT: "true"
// CHECK-NOT: "empty"
// CHECK: %[[A:.*]] = linalg_ext.assert "unknown" ins(%[[TWO]]
// CHECK-NEXT: return %[[ONE]], %[[E]], %[[A]]
func.func @assert_of_true(%e: tensor<0xi32>) -> (tensor<4xi32>, tensor<0xi32>, tensor<4xi32>) {
  %one = arith.constant dense<1> : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %0 = linalg_ext.assert {msg = "true"} ins(%one : tensor<4xi32>) -> tensor<4xi32>
  %1 = linalg_ext.assert {msg = "empty"} ins(%e : tensor<0xi32>) -> tensor<0xi32>
  %2 = linalg_ext.assert {msg = "unknown"} ins(%two : tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<0xi32>, tensor<4xi32>
}

// A scan with an accumulator stays even for lines of one element, because it combines them with the accumulator.
// CHECK-LABEL: func.func @scan_of_one
// CHECK-NEXT: linalg_ext.scan
func.func @scan_of_one(%t: tensor<1xf32>, %first: tensor<f32>) -> tensor<1xf32> {
  %0:2 = linalg_ext.scan ins(%t : tensor<1xf32>) outs(%t, %first : tensor<1xf32>, tensor<f32>) dimensions = [0] {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    %1 = arith.addf %carried, %in : f32
    linalg_ext.yield %1, %1 : f32, f32
  } -> tensor<1xf32>, tensor<f32>
  return %0#0 : tensor<1xf32>
}

// CHECK-LABEL: func.func @scan_of_a_point
// CHECK-SAME: (%[[T:.*]]: tensor<f32>)
// CHECK-NEXT: return %[[T]]
func.func @scan_of_a_point(%t: tensor<f32>) -> tensor<f32> {
  %0 = linalg_ext.scan ins(%t : tensor<f32>) outs(%t : tensor<f32>) dimensions = [] {
  ^bb0(%acc: f32, %in: f32):
    linalg_ext.yield %in : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// An atomic on a tensor may change memory, so unused ones stay and equal ones are not merged. If its mask is all 0, it
// changes nothing, and is replaced by its inits.
// CHECK-LABEL: func.func @atomics_on_tensors
// CHECK-SAME: (%[[T:[^:]*]]: tensor<8xi32>, %[[V:[^:]*]]: tensor<8xi32>
// CHECK-COUNT-2: linalg_ext.atomic_cas
// CHECK-NEXT: linalg_ext.atomic_rmw
// CHECK-NEXT: linalg_ext.gather_atomic_rmw addi relaxed ins(%[[V]], %{{.*}} : tensor<8xi32>, tensor<8xi64>)
// CHECK-NEXT: return %[[T]], %[[V]]
func.func @atomics_on_tensors(%t: tensor<8xi32>, %v: tensor<8xi32>, %i: tensor<8xi64>) -> (tensor<8xi32>, tensor<8xi32>) {
  %0 = linalg_ext.atomic_cas relaxed ins(%t, %v, %v : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) outs(%v : tensor<8xi32>) -> tensor<8xi32>
  %1 = linalg_ext.atomic_cas relaxed ins(%t, %v, %v : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) outs(%v : tensor<8xi32>) -> tensor<8xi32>
  %2:2 = linalg_ext.atomic_rmw addi relaxed ins(%v : tensor<8xi32>) outs(%t, %v : tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>, tensor<8xi32>
  %no = arith.constant dense<0> : tensor<8xi8>
  %yes = arith.constant dense<1> : tensor<8xi8>
  %3:2 = linalg_ext.gather_atomic_rmw addi relaxed ins(%v, %i, %no : tensor<8xi32>, tensor<8xi64>, tensor<8xi8>)
      outs(%t, %v : tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>, tensor<8xi32>
  %4:2 = linalg_ext.gather_atomic_rmw addi relaxed ins(%v, %i, %yes : tensor<8xi32>, tensor<8xi64>, tensor<8xi8>)
      outs(%t, %v : tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>, tensor<8xi32>
  return %3#0, %3#1 : tensor<8xi32>, tensor<8xi32>
}
