// RUN: triton-ext-opt %s --load-extension=linalg_ext -split-input-file | triton-ext-opt --load-extension=linalg_ext -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @reductions
// CHECK: linalg_ext.reduce_sum dimensions = [1] ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK: linalg_ext.reduce_max dimensions = [0, 1] ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<f32>) -> tensor<f32>
// CHECK: linalg_ext.reduce_min dimensions = [0] ins(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<i32>) -> tensor<i32>
// CHECK: linalg_ext.reduce_max_nan dimensions = [0] ins(%{{.*}} : memref<?x8xf16>) outs(%{{.*}} : memref<8xf16>) {mine}
// CHECK: linalg_ext.reduce_min_nan dimensions = [1] ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
func.func @reductions(%t: tensor<4x8xf32>, %o: tensor<4xf32>, %s: tensor<f32>, %i: tensor<?xi32>, %j: tensor<i32>, %m: memref<?x8xf16>, %n: memref<8xf16>) {
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg_ext.reduce_max dimensions = [0, 1] ins(%t : tensor<4x8xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %2 = linalg_ext.reduce_min dimensions = [0] ins(%i : tensor<?xi32>) outs(%j : tensor<i32>) -> tensor<i32>
  linalg_ext.reduce_max_nan dimensions = [0] ins(%m : memref<?x8xf16>) outs(%n : memref<8xf16>) {mine}
  %3 = linalg_ext.reduce_min_nan dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @args
// CHECK: %{{.*}}:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xi32>) outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>, tensor<4xi32>
// CHECK: linalg_ext.argmin dimension = 0 tie_break_left(false) ins(%{{.*}}, %{{.*}} : memref<?xi16>, memref<?xi64>) outs(%{{.*}}, %{{.*}} : memref<i16>, memref<i64>)
func.func @args(%x: tensor<4x8xf32>, %j: tensor<4x8xi32>, %o: tensor<4xf32>, %p: tensor<4xi32>,
                %a: memref<?xi16>, %b: memref<?xi64>, %c: memref<i16>, %d: memref<i64>) {
  %0:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%x, %j : tensor<4x8xf32>, tensor<4x8xi32>)
      outs(%o, %p : tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>, tensor<4xi32>
  linalg_ext.argmin dimension = 0 tie_break_left(false) ins(%a, %b : memref<?xi16>, memref<?xi64>)
      outs(%c, %d : memref<i16>, memref<i64>)
  return
}

// -----

// CHECK-LABEL: func.func @windows
// CHECK: linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 2] dilations = [1, 1] ins(%{{.*}}, %{{.*}} : tensor<2x1x8x9x4xf16>, tensor<2x16x3x3x4xf16>) outs(%{{.*}} : tensor<2x1x6x4x16xf32>) -> tensor<2x1x6x4x16xf32>
// CHECK: linalg_ext.im2col strides = [1, 1] dilations = [2, 1] ins(%{{.*}} : tensor<1x8x8x4xf32>) outs(%{{.*}} : tensor<1x4x6x3x3x4xf32>) -> tensor<1x4x6x3x3x4xf32>
// CHECK: linalg_ext.pooling_nhwc_max_nan strides = [2, 2] dilations = [1, 1] ins(%{{.*}}, %{{.*}} : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%{{.*}} : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
// CHECK: linalg_ext.pooling_nhwc_min_nan strides = [1, 1] dilations = [1, 1] ins(%{{.*}}, %{{.*}} : memref<?x?x?x?xf32>, memref<2x2xf32>) outs(%{{.*}} : memref<?x?x?x?xf32>)
func.func @windows(%a: tensor<2x1x8x9x4xf16>, %f: tensor<2x16x3x3x4xf16>, %o: tensor<2x1x6x4x16xf32>,
                   %i: tensor<1x8x8x4xf32>, %c: tensor<1x4x6x3x3x4xf32>, %w: tensor<2x2xf32>,
                   %p: tensor<1x4x4x4xf32>, %m: memref<?x?x?x?xf32>, %n: memref<2x2xf32>) {
  %0 = linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 2] dilations = [1, 1]
      ins(%a, %f : tensor<2x1x8x9x4xf16>, tensor<2x16x3x3x4xf16>) outs(%o : tensor<2x1x6x4x16xf32>) -> tensor<2x1x6x4x16xf32>
  %1 = linalg_ext.im2col strides = [1, 1] dilations = [2, 1] ins(%i : tensor<1x8x8x4xf32>)
      outs(%c : tensor<1x4x6x3x3x4xf32>) -> tensor<1x4x6x3x3x4xf32>
  %2 = linalg_ext.pooling_nhwc_max_nan strides = [2, 2] dilations = [1, 1]
      ins(%i, %w : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%p : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  linalg_ext.pooling_nhwc_min_nan strides = [1, 1] dilations = [1, 1]
      ins(%m, %n : memref<?x?x?x?xf32>, memref<2x2xf32>) outs(%m : memref<?x?x?x?xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @atomics
// CHECK: linalg_ext.atomic_rmw addf acq_rel ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}}, %{{.*}} : memref<?x8xf32, strided<[?, 1], offset: ?>>, tensor<?x8xf32>) {scope = "gpu"} -> tensor<?x8xf32>
// CHECK: linalg_ext.atomic_cas relaxed ins(%{{.*}}, %{{.*}} : tensor<8xi64>, tensor<8xi64>) outs(%{{.*}}, %{{.*}} : memref<8xi64>, tensor<8xi64>) -> tensor<8xi64>
func.func @atomics(%v: tensor<?x8xf32>, %m: memref<?x8xf32, strided<[?, 1], offset: ?>>, %i: tensor<8xi64>, %n: memref<8xi64>) {
  %0 = linalg_ext.atomic_rmw addf acq_rel ins(%v : tensor<?x8xf32>)
      outs(%m, %v : memref<?x8xf32, strided<[?, 1], offset: ?>>, tensor<?x8xf32>) {scope = "gpu"} -> tensor<?x8xf32>
  %1 = linalg_ext.atomic_cas relaxed ins(%i, %i : tensor<8xi64>, tensor<8xi64>)
      outs(%n, %i : memref<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  return
}

// -----

// CHECK-LABEL: func.func @tri
// CHECK: linalg_ext.tri ins(%{{.*}} : index) outs(%{{.*}} : tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK: linalg_ext.tri ins(%{{.*}} : index) outs(%{{.*}} : memref<?x?xi1>)
func.func @tri(%k: index, %o: tensor<8x16xf32>, %m: memref<?x?xi1>) -> tensor<8x16xf32> {
  %0 = linalg_ext.tri ins(%k : index) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  linalg_ext.tri ins(%k : index) outs(%m : memref<?x?xi1>)
  return %0 : tensor<8x16xf32>
}
