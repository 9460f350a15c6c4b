// RUN: triton-linalg-opt %s -lower-linalg-ext=program-arguments=false -split-input-file | FileCheck %s

// Exponents are aligned and mended by a product; 0x7F is no number.
// CHECK-LABEL: func.func @extend
// CHECK-SAME: (%[[X:[^:]*]]: f8E4M3FN)
// CHECK: %[[B:.*]] = arith.bitcast %[[X]] : f8E4M3FN to i8
// CHECK: arith.extui %[[B]] : i8 to i32
// CHECK: %[[MEND:.*]] = arith.constant 1.329228E+36 : f32
// CHECK: arith.mulf %{{.*}}, %[[MEND]] : f32
// CHECK-NOT: arith.extf
func.func @extend(%x: f8E4M3FN) -> f32 {
  %0 = arith.extf %x : f8E4M3FN to f32
  return %0 : f32
}

// -----

// f16 holds what eight bits do, f64 what f32 does.
// CHECK-LABEL: func.func @others
// CHECK-NOT: f8E5M2 to f16
// CHECK: arith.truncf %{{.*}} : tensor<4xf32> to tensor<4xf16>
// CHECK: arith.extf %{{.*}} : tensor<4xf32> to tensor<4xf64>
func.func @others(%x: tensor<4xf8E5M2>) -> (tensor<4xf16>, tensor<4xf64>) {
  %0 = arith.extf %x : tensor<4xf8E5M2> to tensor<4xf16>
  %1 = arith.extf %x : tensor<4xf8E5M2> to tensor<4xf64>
  return %0, %1 : tensor<4xf16>, tensor<4xf64>
}

// -----

// CHECK-LABEL: func.func @truncate
// CHECK-NOT: arith.truncf
// CHECK: arith.bitcast %{{.*}} : i8 to f8E4M3FN
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.bitcast %{{.*}} : i8 to f8E5M2
func.func @truncate(%x: f32, %y: bf16) -> (f8E4M3FN, f8E5M2) {
  %0 = arith.truncf %x : f32 to f8E4M3FN
  %1 = arith.truncf %y to_nearest_even : bf16 to f8E5M2
  return %0, %1 : f8E4M3FN, f8E5M2
}

// -----

// The casts of a product are not in its text.
// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[A:[^:]*]]: tensor<4x?xf8E4M3FN>, %[[B:[^:]*]]: tensor<?x4xf16>, %[[C:[^:]*]]: tensor<4x4xf32>)
// CHECK: %[[W:.*]] = linalg.map ins(%[[A]] : tensor<4x?xf8E4M3FN>) outs(%{{.*}} : tensor<4x?xf32>)
// CHECK-NOT: arith.extf
// CHECK: linalg.matmul ins(%[[W]], %[[B]] : tensor<4x?xf32>, tensor<?x4xf16>) outs(%[[C]] : tensor<4x4xf32>)
func.func @product(%a: tensor<4x?xf8E4M3FN>, %b: tensor<?x4xf16>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x?xf8E4M3FN>, tensor<?x4xf16>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Not these.
// CHECK-LABEL: func.func @negative
// CHECK: arith.truncf %{{.*}} toward_zero : f32 to f8E5M2
// CHECK: arith.truncf %{{.*}} : f64 to f8E5M2
// CHECK: arith.extf %{{.*}} : f8E4M3FNUZ to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @negative(%x: f32, %y: f64, %z: f8E4M3FNUZ) -> (f8E5M2, f8E5M2, f32, f16) {
  %0 = arith.truncf %x toward_zero : f32 to f8E5M2
  %1 = arith.truncf %y : f64 to f8E5M2
  %2 = arith.extf %z : f8E4M3FNUZ to f32
  %3 = arith.truncf %x : f32 to f16
  return %0, %1, %2, %3 : f8E5M2, f8E5M2, f32, f16
}
