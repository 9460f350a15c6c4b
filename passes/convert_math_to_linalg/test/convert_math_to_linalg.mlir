// RUN: triton-linalg-opt %s -convert-math-to-linalg -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @unary
// CHECK-SAME: (%[[A:.*]]: tensor<8x4xf32>)
// CHECK-NEXT: %[[O:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT: %[[R:.*]] = linalg.map { math.exp } ins(%[[A]] : tensor<8x4xf32>) outs(%[[O]] : tensor<8x4xf32>)
// CHECK-NEXT: return %[[R]]
func.func @unary(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = math.exp %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @more_operands
// CHECK: linalg.map { math.fma } ins(%{{.*}} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK: linalg.map { math_ext.mulhiui } ins(%{{.*}} : tensor<8xi32>, tensor<8xi32>)
func.func @more_operands(%a: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0 = math.fma %a, %a, %a : tensor<8xf32>
  %1 = math_ext.mulhiui %i, %i : tensor<8xi32>
  return %0, %1 : tensor<8xf32>, tensor<8xi32>
}

// -----

// The element type of the result may differ from that of the operands.
// CHECK-LABEL: func.func @predicate
// CHECK: %[[O:.*]] = tensor.empty() : tensor<8xi1>
// CHECK: linalg.map { math.isnan } ins(%{{.*}} : tensor<8xf32>) outs(%[[O]] : tensor<8xi1>)
func.func @predicate(%a: tensor<8xf32>) -> tensor<8xi1> {
  %0 = math.isnan %a : tensor<8xf32>
  return %0 : tensor<8xi1>
}

// -----

// CHECK-LABEL: func.func @scalar
// CHECK-NEXT: math.exp %{{.*}} fastmath<fast> : f32
// CHECK-NEXT: return
func.func @scalar(%a: f32) -> f32 {
  %0 = math.exp %a fastmath<fast> : f32
  return %0 : f32
}
