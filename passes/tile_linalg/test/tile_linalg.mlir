// RUN: triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=4,0,2" -canonicalize -cse -split-input-file | FileCheck %s

// The sizes also apply to operations of linalg; a size of 0 means no loop.
// CHECK-LABEL: func.func @matmul
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[K:.*]] = %c0 to %c6 step %c2
// CHECK-NOT: scf.for
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<2x5xf32>) outs(%{{.*}} : tensor<4x5xf32>)
func.func @matmul(%a: tensor<8x6xf32>, %b: tensor<6x5xf32>, %c: tensor<8x5xf32>) -> tensor<8x5xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x5xf32>) outs(%c : tensor<8x5xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// Loads, operations that write both a tensor and a memref, and operations on vectors stay.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: scf.for
// CHECK: linalg.copy
// CHECK: linalg_ext.scan
// CHECK: linalg_ext.libdevice_call
// CHECK: return
func.func @stays(%m: memref<8x8xf32>, %t: tensor<4xf32>, %x: tensor<4x8xf32>, %p: memref<4xf32>,
                 %v: vector<4xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>, tensor<4xf32>) {
  %0 = bufferization.to_tensor %m restrict writable : memref<8x8xf32> to tensor<8x8xf32>
  %1 = tensor.empty() : tensor<8x8xf32>
  %2 = linalg.copy ins(%0 : tensor<8x8xf32>) outs(%1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = linalg_ext.scan dimension = 1 reverse(false) ins(%x : tensor<4x8xf32>) outs(%x, %p : tensor<4x8xf32>, memref<4xf32>) {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    linalg_ext.yield %in, %in : f32, f32
  } -> tensor<4x8xf32>
  %4 = linalg_ext.libdevice_call ins(%v : vector<4xf32>) outs(%t : tensor<4xf32>) symbol = "f" -> tensor<4xf32>
  return %2, %3, %4 : tensor<8x8xf32>, tensor<4x8xf32>, tensor<4xf32>
}
