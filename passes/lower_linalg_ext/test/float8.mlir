// RUN: triton-linalg-opt %s -lower-linalg-ext=program-arguments=false -split-input-file | FileCheck %s

// The bits are shifted into place and a product corrects the exponent; 0x7F is NaN.
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

// f16 represents all 8-bit floats; f64 is extended from f32.
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

// A product casts its operands implicitly, so explicit casts are added.
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

// f64 is rounded to f32 first, with a last bit of 1 if the result is inexact.
// CHECK-LABEL: func.func @of_f64
// CHECK-SAME: (%[[X:[^:]*]]: f64)
// CHECK: %[[N:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK: %[[Z:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: %[[B:.*]] = arith.bitcast %[[Z]] : f32 to i32
// CHECK: %[[ODD:.*]] = arith.ori %[[B]], %c1_i32{{.*}} : i32
// CHECK: %[[W:.*]] = arith.extf %[[Z]] : f32 to f64
// CHECK: %[[LOST:.*]] = arith.cmpf une, %[[W]], %[[X]] : f64
// CHECK: arith.select %[[LOST]], %[[ODD]], %[[B]] : i32
// CHECK: arith.bitcast %{{.*}} : i8 to f8E5M2
func.func @of_f64(%x: f64) -> f8E5M2 {
  %0 = arith.truncf %x : f64 to f8E5M2
  return %0 : f8E5M2
}

// -----

// Arithmetic is done on f32; operations that only move numbers stay.
// CHECK-LABEL: func.func @arithmetic
// CHECK-NOT: arith.{{extf|truncf}}
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} fastmath<nnan> : f32
// CHECK: arith.bitcast %{{.*}} : i8 to f8E5M2
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f8E5M2
// CHECK: math.sqrt %{{.*}} : tensor<4xf32>
// CHECK: arith.bitcast %{{.*}} : tensor<4xi8> to tensor<4xf8E4M3FN>
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK-NOT: arith.{{extf|truncf}}
func.func @arithmetic(%x: f8E5M2, %y: f8E5M2, %t: tensor<4xf8E4M3FN>) -> (f8E5M2, tensor<4xf8E4M3FN>, i32) {
  %0 = arith.addf %x, %y fastmath<nnan> : f8E5M2
  %1 = arith.cmpf olt, %0, %y : f8E5M2
  %2 = arith.select %1, %x, %y : f8E5M2
  %3 = math.sqrt %t : tensor<4xf8E4M3FN>
  %4 = arith.fptosi %2 : f8E5M2 to i32
  return %2, %3, %4 : f8E5M2, tensor<4xf8E4M3FN>, i32
}

// -----

// Other formats and other casts stay.
// CHECK-LABEL: func.func @negative
// CHECK: arith.extf %{{.*}} : f8E4M3FNUZ to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.addf %{{.*}}, %{{.*}} : f8E4M3FNUZ
// CHECK: arith.convertf %{{.*}} : f8E5M2 to f8E4M3FN
func.func @negative(%x: f32, %y: f8E5M2, %z: f8E4M3FNUZ) -> (f32, f16, f8E4M3FNUZ, f8E4M3FN) {
  %0 = arith.extf %z : f8E4M3FNUZ to f32
  %1 = arith.truncf %x : f32 to f16
  %2 = arith.addf %z, %z : f8E4M3FNUZ
  %3 = arith.convertf %y : f8E5M2 to f8E4M3FN
  return %0, %1, %2, %3 : f32, f16, f8E4M3FNUZ, f8E4M3FN
}
