// RUN: triton-linalg-opt %s -convert-arith-to-linalg -split-input-file | triton-linalg-opt -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @binary
// CHECK-SAME: (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[O:.*]] = tensor.empty() : tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = linalg.map { arith.addf } ins(%[[A]], %[[B]] : tensor<8xf32>, tensor<8xf32>) outs(%[[O]] : tensor<8xf32>)
// CHECK-NEXT: return %[[R]]
func.func @binary(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Attributes are kept: predicates, fast-math and overflow flags, rounding modes.
// CHECK-LABEL: func.func @attributes
// CHECK: linalg.map { arith.cmpi {predicate = 6 : i64} }
// CHECK: linalg.map { arith.addf {fastmath = #arith.fastmath<nnan>} }
// CHECK: linalg.map { arith.muli {overflowFlags = #arith.overflow<nsw>} }
// CHECK: linalg.map { arith.truncf {roundingmode = 0 : i32} }
func.func @attributes(%a: tensor<4x2xi32>, %x: tensor<4x2xf32>) -> (tensor<4x2xi1>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<4x2xf16>) {
  %0 = arith.cmpi ult, %a, %a : tensor<4x2xi32>
  %1 = arith.addf %x, %x fastmath<nnan> : tensor<4x2xf32>
  %2 = arith.muli %a, %a overflow<nsw> : tensor<4x2xi32>
  %3 = arith.truncf %x to_nearest_even : tensor<4x2xf32> to tensor<4x2xf16>
  return %0, %1, %2, %3 : tensor<4x2xi1>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<4x2xf16>
}

// -----

// Casts change the element type of the init.
// CHECK-LABEL: func.func @cast
// CHECK: %[[O:.*]] = tensor.empty() : tensor<8xi64>
// CHECK: linalg.map { arith.extsi } ins(%{{.*}} : tensor<8xi32>) outs(%[[O]] : tensor<8xi64>)
func.func @cast(%a: tensor<8xi32>) -> tensor<8xi64> {
  %0 = arith.extsi %a : tensor<8xi32> to tensor<8xi64>
  return %0 : tensor<8xi64>
}

// -----

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[D:.*]] = tensor.dim
// CHECK: %[[O:.*]] = tensor.empty(%[[D]]) : tensor<?x4xf32>
// CHECK: linalg.map { arith.negf } ins(%{{.*}} : tensor<?x4xf32>) outs(%[[O]] : tensor<?x4xf32>)
func.func @dynamic(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = arith.negf %a : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[C:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[O:.*]] = tensor.empty() : tensor<8xf32>
// CHECK: linalg.fill ins(%[[C]] : f32) outs(%[[O]] : tensor<8xf32>) -> tensor<8xf32>
// CHECK: arith.constant dense<[1, 2]> : tensor<2xi32>
func.func @constants() -> (tensor<8xf32>, tensor<2xi32>) {
  %0 = arith.constant dense<1.0> : tensor<8xf32>
  %1 = arith.constant dense<[1, 2]> : tensor<2xi32>
  return %0, %1 : tensor<8xf32>, tensor<2xi32>
}

// -----

// A select with a condition for each element becomes a map; one with a scalar condition is left untouched.
// CHECK-LABEL: func.func @selects
// CHECK: linalg.map { arith.select } ins(%{{.*}} : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>)
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @selects(%m: tensor<8xi1>, %c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.select %m, %a, %b : tensor<8xi1>, tensor<8xf32>
  %1 = arith.select %c, %a, %b : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// An operation with two results is left untouched: the short form of linalg.map does not tell which one it yields.
// CHECK-LABEL: func.func @two_results
// CHECK-NEXT: arith.mului_extended
// CHECK-NEXT: return
func.func @two_results(%a: tensor<8xi32>) -> tensor<8xi32> {
  %low, %high = arith.mului_extended %a, %a : tensor<8xi32>
  return %high : tensor<8xi32>
}

// -----

// CHECK-LABEL: func.func @scalars_and_vectors
// CHECK-NEXT: arith.addi %{{.*}} : i32
// CHECK-NEXT: arith.addf %{{.*}} : vector<4xf32>
// CHECK-NEXT: return
func.func @scalars_and_vectors(%a: i32, %v: vector<4xf32>) -> (i32, vector<4xf32>) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addf %v, %v : vector<4xf32>
  return %0, %1 : i32, vector<4xf32>
}
