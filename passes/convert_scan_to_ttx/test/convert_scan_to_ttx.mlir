// RUN: triton-linalg-opt %s --load-extension=ttx -convert-scan-to-ttx | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: triton-linalg-opt %s --load-extension=ttx -convert-scan-to-ttx=reverse | FileCheck %s --check-prefixes=CHECK,REVERSE

// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[M:.*]]: memref<?xi32>)
// CHECK: %[[R:.*]] = ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%[[X]] : tensor<4x8xf32>) outs(%[[X]] : tensor<4x8xf32>) -> tensor<4x8xf32>
// DEFAULT: linalg_ext.scan dimension = 0 reverse(true)
// REVERSE: ttx.cumsum {axis = 0 : ui32, operandSegmentSizes = array<i32: 1, 1>, reverse} ins(%[[M]] : memref<?xi32>) outs(%[[M]] : memref<?xi32>){{$}}
// CHECK: return %[[R]]
func.func @sums(%x: tensor<4x8xf32>, %m: memref<?xi32>) -> tensor<4x8xf32> {
  %0 = linalg_ext.scan dimension = 1 reverse(false) ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {
  ^bb0(%acc: f32, %in: f32):
    %s = arith.addf %in, %acc : f32
    linalg_ext.yield %s : f32
  } -> tensor<4x8xf32>
  linalg_ext.scan dimension = 0 reverse(true) ins(%m : memref<?xi32>) outs(%m : memref<?xi32>) {
  ^bb0(%acc: i32, %in: i32):
    %s = arith.addi %acc, %in : i32
    linalg_ext.yield %s : i32
  }
  return %0 : tensor<4x8xf32>
}

// A product, a sum of the element with itself, the element alone, a sum with flags, one from outside, and an accumulator.
// CHECK-LABEL: func.func @negative
// CHECK-NOT: ttx.cumsum
func.func @negative(%x: tensor<8xf32>, %y: f32, %first: tensor<f32>) {
  %outside = arith.addf %y, %y : f32
  %0 = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%acc: f32, %in: f32):
    %s = arith.mulf %acc, %in : f32
    linalg_ext.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%acc: f32, %in: f32):
    %s = arith.addf %in, %in : f32
    linalg_ext.yield %s : f32
  } -> tensor<8xf32>
  %2 = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%acc: f32, %in: f32):
    linalg_ext.yield %in : f32
  } -> tensor<8xf32>
  %3 = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%acc: f32, %in: f32):
    %s = arith.addf %acc, %in fastmath<fast> : f32
    linalg_ext.yield %s : f32
  } -> tensor<8xf32>
  %4 = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%acc: f32, %in: f32):
    linalg_ext.yield %outside : f32
  } -> tensor<8xf32>
  %5:2 = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<8xf32>) outs(%x, %first : tensor<8xf32>, tensor<f32>) {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    %s = arith.addf %in, %out : f32
    linalg_ext.yield %s, %s : f32, f32
  } -> tensor<8xf32>, tensor<f32>
  return
}
