// RUN: triton-linalg-opt %s -lower-linalg-ext=program-arguments=false -split-input-file | FileCheck %s

// The nearest number, or the one before it if that is farther from zero than the value.
// CHECK-LABEL: func.func @to_f16
// CHECK-SAME: (%[[X:[^:]*]]: f32)
// CHECK: %[[N:.*]] = arith.truncf %[[X]] : f32 to f16
// CHECK: %[[W:.*]] = arith.extf %[[N]] : f16 to f32
// CHECK: %[[B:.*]] = arith.bitcast %[[N]] : f16 to i16
// CHECK: %[[C:.*]] = arith.constant 1 : i16
// CHECK: %[[BEFORE:.*]] = arith.subi %[[B]], %[[C]] : i16
// CHECK: %[[AW:.*]] = math.absf %[[W]] : f32
// CHECK: %[[AX:.*]] = math.absf %[[X]] : f32
// CHECK: %[[FAR:.*]] = arith.cmpf ogt, %[[AW]], %[[AX]] : f32
// CHECK: %[[R:.*]] = arith.select %[[FAR]], %[[BEFORE]], %[[B]] : i16
// CHECK: %[[F:.*]] = arith.bitcast %[[R]] : i16 to f16
// CHECK: return %[[F]]
func.func @to_f16(%x: f32) -> f16 {
  %0 = arith.truncf %x toward_zero : f32 to f16
  return %0 : f16
}

// -----

// f64 is cast to f32 first; f16 is extended to f32 before it is cast to 8 bits.
// CHECK-LABEL: func.func @on_the_way
// CHECK-NOT: toward_zero
// CHECK: arith.truncf %{{.*}} : tensor<4xf64> to tensor<4xf32>
// CHECK: %[[Z:.*]] = arith.bitcast %{{.*}} : tensor<4xi32> to tensor<4xf32>
// CHECK: arith.truncf %[[Z]] : tensor<4xf32> to tensor<4xbf16>
// CHECK: arith.cmpf ogt, %{{.*}}, %{{.*}} : tensor<4xf32>
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[N:.*]] = arith.bitcast %{{.*}} : i8 to f8E5M2
// CHECK: arith.subi %{{.*}}, %{{.*}} : i8
// CHECK: arith.bitcast %{{.*}} : i8 to f8E5M2
// CHECK-NOT: arith.truncf
func.func @on_the_way(%x: tensor<4xf64>, %y: f16) -> (tensor<4xbf16>, f8E5M2) {
  %0 = arith.truncf %x toward_zero : tensor<4xf64> to tensor<4xbf16>
  %1 = arith.truncf %y toward_zero : f16 to f8E5M2
  return %0, %1 : tensor<4xbf16>, f8E5M2
}

// -----

// Every processor rounds to nearest, so these casts stay.
// CHECK-LABEL: func.func @negative_to_nearest
// CHECK-NEXT: arith.truncf %{{.*}} to_nearest_even : f32 to f16
// CHECK-NEXT: arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT: return
func.func @negative_to_nearest(%x: f32, %y: f64) -> (f16, f32) {
  %0 = arith.truncf %x to_nearest_even : f32 to f16
  %1 = arith.truncf %y : f64 to f32
  return %0, %1 : f16, f32
}
