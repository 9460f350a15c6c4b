// RUN: triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=0,4 partial-reductions" -canonicalize -cse -split-input-file | FileCheck %s

// Elements of a tile are combined with those of the other tiles, and the four results with each other. -0.0 changes no sum.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[T:[^:]*]]: tensor<8x10xf32>, %[[O:[^:]*]]: tensor<8xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[PARTS:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<8x4xf32>)
// CHECK: %[[L:.*]] = scf.for %[[J:.*]] = %c0 to %c10 step %c4 iter_args(%[[A:.*]] = %[[PARTS]]) -> (tensor<8x4xf32>)
// CHECK: %[[N:.*]] = affine.min
// CHECK-DAG: %[[X:.*]] = tensor.extract_slice %[[T]][0, %[[J]]] [8, %[[N]]] [1, 1]
// CHECK-DAG: %[[P:.*]] = tensor.extract_slice %[[A]][0, 0] [8, %[[N]]] [1, 1]
// CHECK: %[[G:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<8x?xf32>) outs(%[[P]] : tensor<8x?xf32>)
// CHECK: arith.addf
// CHECK: tensor.insert_slice %[[G]] into %[[A]][0, 0] [8, %[[N]]] [1, 1]
// CHECK: linalg_ext.reduce_sum dimensions = [1] ins(%[[L]] : tensor<8x4xf32>) outs(%[[O]] : tensor<8xf32>)
func.func @sum(%t: tensor<8x10xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<8x10xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Of reduce_max, NaN is the neutral element, of reduce_max_nan, -infinity.
// CHECK-LABEL: func.func @neutral
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -32768 : i16
// CHECK: linalg.fill ins(%[[NAN]] : f32)
// CHECK: linalg_ext.reduce_max dimensions = [1]
// CHECK: linalg.fill ins(%[[INF]] : f32)
// CHECK: linalg_ext.reduce_max_nan dimensions = [1]
// CHECK: linalg.fill ins(%[[LEAST]] : i16)
// CHECK: linalg_ext.reduce_max dimensions = [1]
func.func @neutral(%t: tensor<8x12xf32>, %o: tensor<8xf32>, %i: tensor<8x12xi16>, %p: tensor<8xi16>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi16>) {
  %0 = linalg_ext.reduce_max dimensions = [1] ins(%t : tensor<8x12xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg_ext.reduce_max_nan dimensions = [1] ins(%t : tensor<8x12xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg_ext.reduce_max dimensions = [1] ins(%i : tensor<8x12xi16>) outs(%p : tensor<8xi16>) -> tensor<8xi16>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xi16>
}

// -----

// The first index of the largest integer can be found in parts, that of the largest float not, because of NaN.
// CHECK-LABEL: func.func @arg
// CHECK-SAME: (%[[T:[^:]*]]: tensor<8x12xi32>, %[[J:[^:]*]]: tensor<8x12xi32>, %[[X:[^:]*]]: tensor<8x12xf32>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483648 : i32
// CHECK-DAG: %[[LAST:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[V:.*]] = linalg.fill ins(%[[LEAST]] : i32) outs(%{{.*}} : tensor<8x4xi32>)
// CHECK-DAG: %[[W:.*]] = linalg.fill ins(%[[LAST]] : i32) outs(%{{.*}} : tensor<8x4xi32>)
// CHECK: %[[L:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[V]], %{{.*}} = %[[W]])
// CHECK: linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%[[L]]#0, %[[L]]#1 : tensor<8x4xi32>, tensor<8x4xi32>)
// CHECK: scf.for {{.*}} -> (tensor<8xf32>, tensor<8xi32>)
// CHECK: linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xi32>)
func.func @arg(%t: tensor<8x12xi32>, %j: tensor<8x12xi32>, %x: tensor<8x12xf32>, %o: tensor<8xi32>, %p: tensor<8xi32>,
               %q: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xf32>, tensor<8xi32>) {
  %0:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%t, %j : tensor<8x12xi32>, tensor<8x12xi32>)
      outs(%o, %p : tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>, tensor<8xi32>
  %1:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%x, %j : tensor<8x12xf32>, tensor<8x12xi32>)
      outs(%q, %p : tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>, tensor<8xi32>
  return %0#0, %0#1, %1#0, %1#1 : tensor<8xi32>, tensor<8xi32>, tensor<8xf32>, tensor<8xi32>
}

// -----

// Operations of linalg are reduced in parts, too.
// CHECK-LABEL: func.func @linalg
// CHECK: scf.for {{.*}} -> (tensor<8x4xf32>)
// CHECK: linalg.generic
// CHECK: linalg.reduce
func.func @linalg(%t: tensor<8x12xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.reduce { arith.addf } ins(%t : tensor<8x12xf32>) outs(%o : tensor<8xf32>) dimensions = [1]
  return %0 : tensor<8xf32>
}
