// RUN: triton-ext-opt %s --load-extension=math_ext -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @folds_constants
// 0xFFFFFFFF * 0xFFFFFFFF = 0xFFFFFFFE00000001
// CHECK-DAG: %[[A:.*]] = arith.constant -2 : i32
// CHECK-DAG: %[[B:.*]] = arith.constant dense<1> : tensor<4xi8>
// CHECK: return %[[A]], %[[B]]
func.func @folds_constants() -> (i32, tensor<4xi8>) {
  %m1 = arith.constant -1 : i32
  %x = arith.constant dense<16> : tensor<4xi8>
  %0 = math_ext.mulhiui %m1, %m1 : i32
  %1 = math_ext.mulhiui %x, %x : tensor<4xi8>
  return %0, %1 : i32, tensor<4xi8>
}

// CHECK-LABEL: func.func @folds_zero_and_one
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i64
// CHECK-NEXT: return %[[Z]], %[[Z]]
func.func @folds_zero_and_one(%a: i64) -> (i64, i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %0 = math_ext.mulhiui %c0, %a : i64
  %1 = math_ext.mulhiui %a, %c1 : i64
  return %0, %1 : i64, i64
}

// An operation whose result is not used is removed.
// CHECK-LABEL: func.func @is_pure
// CHECK-NEXT: return
func.func @is_pure(%a: i64) {
  %0 = math_ext.mulhiui %a, %a : i64
  return
}

// A product with a power of two becomes a shift, also with the highest power.
// CHECK-LABEL: func.func @shifts
// CHECK-SAME: (%[[A:.*]]: i32, %[[T:.*]]: tensor<4xi8>)
// CHECK-DAG: %[[C28:.*]] = arith.constant 28 : i32
// CHECK-DAG: %[[C1:.*]] = arith.constant dense<1> : tensor<4xi8>
// CHECK: %[[X:.*]] = arith.shrui %[[A]], %[[C28]] : i32
// CHECK: %[[Y:.*]] = arith.shrui %[[T]], %[[C1]] : tensor<4xi8>
// CHECK: return %[[X]], %[[Y]]
func.func @shifts(%a: i32, %t: tensor<4xi8>) -> (i32, tensor<4xi8>) {
  %c16 = arith.constant 16 : i32
  %high = arith.constant dense<-128> : tensor<4xi8>
  %0 = math_ext.mulhiui %c16, %a : i32
  %1 = math_ext.mulhiui %t, %high : tensor<4xi8>
  return %0, %1 : i32, tensor<4xi8>
}

// CHECK-LABEL: func.func @other_factors
// CHECK-COUNT-2: math_ext.mulhiui
func.func @other_factors(%a: i32, %t: tensor<2xi8>) -> (i32, tensor<2xi8>) {
  %c12 = arith.constant 12 : i32
  %both = arith.constant dense<[2, 4]> : tensor<2xi8>
  %0 = math_ext.mulhiui %a, %c12 : i32
  %1 = math_ext.mulhiui %t, %both : tensor<2xi8>
  return %0, %1 : i32, tensor<2xi8>
}
