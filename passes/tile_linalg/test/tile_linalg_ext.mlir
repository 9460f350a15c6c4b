// RUN: triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=4,3,2,2" -canonicalize -cse -split-input-file | FileCheck %s

// A tile takes its part of the input and its part of the margins.
// CHECK-DAG: #[[TAKEN:.*]] = affine_map<(d0, d1) -> (d0 - d1)>
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 - d1 - d2 + d3)>
// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[T:.*]]: tensor<?x6xf32>, %[[O:[^:]*]]: tensor<9x8xf32>, %[[Z:[^:]*]]: f32
// CHECK: scf.for %[[I:.*]] = %c0 to %c9 step %c4 iter_args
// CHECK: scf.for %[[J:.*]] = %c0 to %c8 step %c3 iter_args(%[[A:.*]] =
// CHECK: %[[OUT:.*]] = tensor.extract_slice %[[A]][%[[I]], %[[J]]] [%[[M:.*]], %[[N:.*]]] [1, 1]
// CHECK: %[[ROWS:.*]] = affine.apply #[[TAKEN]](
// CHECK: %[[BEFORE:.*]] = affine.min
// CHECK: %[[AFTER:.*]] = affine.apply #[[LEFT]](%[[M]], %[[BEFORE]],
// CHECK: %[[COLUMNS:.*]] = affine.apply #[[TAKEN]](
// CHECK: %[[LEFTMOST:.*]] = affine.min
// CHECK: %[[RIGHTMOST:.*]] = affine.apply #[[LEFT]](%[[N]], %[[LEFTMOST]],
// CHECK: %[[IN:.*]] = tensor.extract_slice %[[T]][{{.*}}] [%[[ROWS]], %[[COLUMNS]]] [1, 1]
// CHECK: linalg_ext.pad ins(%[[IN]] : tensor<?x?xf32>) outs(%[[OUT]] : tensor<?x?xf32>) pvalue(%[[Z]] : f32) low = [%[[BEFORE]], %[[LEFTMOST]]] high = [%[[AFTER]], %[[RIGHTMOST]]] {
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT: linalg_ext.yield %[[E]]
// CHECK: tensor.insert_slice {{.*}} into %[[A]][%[[I]], %[[J]]] [%[[M]], %[[N]]] [1, 1]
func.func @pad(%t: tensor<?x6xf32>, %o: tensor<9x8xf32>, %z: f32, %n: index) -> tensor<9x8xf32> {
  %0 = linalg_ext.pad ins(%t : tensor<?x6xf32>) outs(%o : tensor<9x8xf32>) pvalue(%z : f32) low = [0, 2] high = [%n, 0] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<9x8xf32>
  return %0 : tensor<9x8xf32>
}

// -----

// CHECK-LABEL: func.func @make_range
// CHECK-SAME: (%[[A:[^:]*]]: i32
// CHECK: scf.for %[[I:.*]] = %c0 to %c128 step %c4 iter_args(%[[O:.*]] =
// CHECK: %[[OUT:.*]] = tensor.extract_slice %[[O]][%[[I]]] [4] [1]
// CHECK: %[[C:.*]] = arith.index_cast %[[I]]
// CHECK: %[[BEGIN:.*]] = arith.addi %[[A]], %[[C]]
// CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %c4_i32
// CHECK: linalg_ext.make_range ins(%[[BEGIN]], %[[END]] : i32, i32) outs(%[[OUT]] : tensor<4xi32>)
func.func @make_range(%a: i32, %b: i32, %o: tensor<128xi32>) -> tensor<128xi32> {
  %0 = linalg_ext.make_range ins(%a, %b : i32, i32) outs(%o : tensor<128xi32>) -> tensor<128xi32>
  return %0 : tensor<128xi32>
}

// -----

// Loops along the batch, and along dimension 3, along which no index moves the window.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%[[T:[^:]*]]: tensor<16x8xf32>, %[[X:[^:]*]]: tensor<6x4x1xi32>, %[[M:[^:]*]]: tensor<6x4xi1>
// CHECK: scf.for %[[I:.*]] = %c0 to %c6 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c4 step %c3
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c2 iter_args(%[[A:.*]] =
// CHECK: %[[TS:.*]] = tensor.extract_slice %[[T]][0, %[[K]]] [16, 2] [1, 1]
// CHECK: %[[XS:.*]] = tensor.extract_slice %[[X]][%[[I]], %[[J]], 0] [%[[N:.*]], %[[L:.*]], 1] [1, 1, 1]
// CHECK: %[[MS:.*]] = tensor.extract_slice %[[M]][%[[I]], %[[J]]] [%[[N]], %[[L]]] [1, 1]
// CHECK: %[[OS:.*]] = tensor.extract_slice %[[A]][%[[I]], %[[J]], 0, %[[K]]] [%[[N]], %[[L]], 2, 2] [1, 1, 1, 1]
// CHECK: linalg_ext.gather {{.*}} ins(%[[TS]], %[[XS]], %[[MS]] : tensor<16x2xf32>, tensor<?x?x1xi32>, tensor<?x?xi1>) outs(%[[OS]] : tensor<?x?x2x2xf32>)
func.func @gather(%d: tensor<16x8xf32>, %i: tensor<6x4x1xi32>, %m: tensor<6x4xi1>, %o: tensor<6x4x2x8xf32>) -> tensor<6x4x2x8xf32> {
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true)
      ins(%d, %i, %m : tensor<16x8xf32>, tensor<6x4x1xi32>, tensor<6x4xi1>) outs(%o : tensor<6x4x2x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<6x4x2x8xf32>
  return %0 : tensor<6x4x2x8xf32>
}

// -----

// Windows may overlap, so the order of the writes counts: only the first dimension is tiled.
// CHECK-LABEL: func.func @scatter
// CHECK-SAME: %[[O:[^:]*]]: memref<?xf32>)
// CHECK: scf.for %[[I:.*]] = %c0 to %c6 step %c4
// CHECK-NOT: scf.for
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0, 0] [%{{.*}}, 4, 1] [1, 1, 1]
// CHECK: linalg_ext.scatter {{.*}} outs(%[[O]] : memref<?xf32>)
// CHECK: scf.for %[[I:.*]] = %c0 to %c6 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c4 step %c3
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %[[J]], 0] [%{{.*}}, %{{.*}}, 1] [1, 1, 1]
// CHECK: linalg_ext.scatter {{.*}} outs(%[[O]] : memref<?xf32>)
func.func @scatter(%u: tensor<6x4x1xf32>, %i: tensor<6x4x1xi64>, %o: memref<?xf32>) {
  linalg_ext.scatter dimension_map = [0] ranged_data(false) overlap_window(true) signed_indice(true)
      ins(%u, %i : tensor<6x4x1xf32>, tensor<6x4x1xi64>) outs(%o : memref<?xf32>) {
  ^bb0(%new: f32, %old: f32):
    linalg_ext.yield %new : f32
  }
  linalg_ext.scatter dimension_map = [0] ranged_data(false) overlap_window(false) signed_indice(true)
      ins(%u, %i : tensor<6x4x1xf32>, tensor<6x4x1xi64>) outs(%o : memref<?xf32>) {
  ^bb0(%new: f32, %old: f32):
    linalg_ext.yield %new : f32
  }
  return
}

// -----

// The dimension of a scan is not tiled.
// CHECK-LABEL: func.func @scan
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: %[[IN:.*]] = tensor.extract_slice %{{.*}}[0, %[[I]]] [4, 4] [1, 1]
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}}[0, %[[I]]] [4, 4] [1, 1]
// CHECK: linalg_ext.scan dimension = 0 reverse(true) ins(%[[IN]] : tensor<4x4xf32>) outs(%[[OUT]] : tensor<4x4xf32>)
// CHECK-NOT: scf.for
// CHECK: linalg_ext.scan dimension = 0 reverse(true) ins(%{{.*}} : tensor<8xf32>)
func.func @scan(%a: tensor<4x8xf32>, %c: tensor<4x8xf32>, %v: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %0 = linalg_ext.scan dimension = 0 reverse(true) ins(%a : tensor<4x8xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.addf %x, %y : f32
    linalg_ext.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg_ext.scan dimension = 0 reverse(true) ins(%v : tensor<8xf32>) outs(%v : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.addf %x, %y : f32
    linalg_ext.yield %1 : f32
  } -> tensor<8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @histogram
// CHECK: scf.for %[[I:.*]] = %c0 to %c64 step %c4 iter_args(%[[A:.*]] =
// CHECK: %[[T:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [4] [1]
// CHECK: %[[M:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [4] [1]
// CHECK: %[[R:.*]] = linalg_ext.histogram ins(%[[T]], %[[M]] : tensor<4xi32>, tensor<4xi1>) outs(%[[A]] : tensor<16xi32>)
// CHECK: scf.yield %[[R]]
func.func @histogram(%t: tensor<64xi32>, %m: tensor<64xi1>, %o: tensor<16xi32>) -> tensor<16xi32> {
  %0 = linalg_ext.histogram ins(%t, %m : tensor<64xi32>, tensor<64xi1>) outs(%o : tensor<16xi32>) -> tensor<16xi32>
  return %0 : tensor<16xi32>
}

// -----

// CHECK-LABEL: func.func @reduce
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c6 step %c3 iter_args(%[[A:.*]] =
// CHECK: %[[T:.*]] = tensor.extract_slice %{{.*}}[%[[I]], %[[J]]] [4, 3] [1, 1]
// CHECK: %[[O:.*]] = tensor.extract_slice %[[A]][%[[I]]] [4] [1]
// CHECK: linalg_ext.reduce_max_nan dimensions = [1] ins(%[[T]] : tensor<4x3xf32>) outs(%[[O]] : tensor<4xf32>)
func.func @reduce(%t: tensor<8x6xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg_ext.reduce_max_nan dimensions = [1] ins(%t : tensor<8x6xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @argmax
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c6 step %c3 iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %[[J]]] [4, 3] [1, 1]
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %[[J]]] [4, 3] [1, 1]
// CHECK: %[[V:.*]] = tensor.extract_slice %[[A]][%[[I]]] [4] [1]
// CHECK: %[[W:.*]] = tensor.extract_slice %[[B]][%[[I]]] [4] [1]
// CHECK: %[[R:.*]]:2 = linalg_ext.argmax {{.*}} outs(%[[V]], %[[W]] : tensor<4xf32>, tensor<4xi32>)
// CHECK: tensor.insert_slice %[[R]]#0 into %[[A]][%[[I]]] [4] [1]
// CHECK: tensor.insert_slice %[[R]]#1 into %[[B]][%[[I]]] [4] [1]
func.func @argmax(%x: tensor<8x6xf32>, %j: tensor<8x6xi32>, %o: tensor<8xf32>, %p: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%x, %j : tensor<8x6xf32>, tensor<8x6xi32>)
      outs(%o, %p : tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>, tensor<8xi32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

// -----

// CHECK-DAG: #[[TWICE:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-LABEL: func.func @conv
// CHECK: scf.for %[[Y:.*]] = %c0 to %c4 step %c2
// CHECK: scf.for %[[X:.*]] = %c0 to %c6 step %c2
// CHECK: %[[ROW:.*]] = affine.apply #[[TWICE]](%[[Y]])
// CHECK: %[[IMAGE:.*]] = tensor.extract_slice %{{.*}}[0, 0, %[[ROW]], %[[X]], 0] [2, 1, 5, 4, 4] [1, 1, 1, 1, 1]
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}}[0, 0, %[[Y]], %[[X]], 0] [2, 1, 2, 2, 16] [1, 1, 1, 1, 1]
// CHECK: linalg_ext.batch_conv_2d_nhwc_fhwc strides = [2, 1] dilations = [1, 1] ins(%[[IMAGE]], %{{.*}} : tensor<2x1x5x4x4xf32>, tensor<2x16x3x3x4xf32>) outs(%[[OUT]] : tensor<2x1x2x2x16xf32>)
func.func @conv(%i: tensor<2x1x9x8x4xf32>, %f: tensor<2x16x3x3x4xf32>, %o: tensor<2x1x4x6x16xf32>) -> tensor<2x1x4x6x16xf32> {
  %0 = linalg_ext.batch_conv_2d_nhwc_fhwc strides = [2, 1] dilations = [1, 1]
      ins(%i, %f : tensor<2x1x9x8x4xf32>, tensor<2x16x3x3x4xf32>) outs(%o : tensor<2x1x4x6x16xf32>) -> tensor<2x1x4x6x16xf32>
  return %0 : tensor<2x1x4x6x16xf32>
}

// -----

// CHECK-LABEL: func.func @im2col
// CHECK: scf.for %[[Y:.*]] = %c0 to %c6 step %c3
// CHECK: scf.for %[[X:.*]] = %c0 to %c6 step %c2
// CHECK: scf.for %[[H:.*]] = %c0 to %c3 step %c2
// CHECK: %[[N:.*]] = affine.min
// CHECK: %[[ROW:.*]] = affine.apply #{{.*}}(%[[Y]], %[[H]])
// CHECK: %[[ROWS:.*]] = affine.apply #{{.*}}(%[[N]])
// CHECK: %[[IMAGE:.*]] = tensor.extract_slice %{{.*}}[0, %[[ROW]], %[[X]], 0] [1, %[[ROWS]], 4, 4] [1, 1, 1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[Y]], %[[X]], %[[H]], 0, 0] [1, 3, 2, %[[N]], 3, 4] [1, 1, 1, 1, 1, 1]
// CHECK: linalg_ext.im2col strides = [1, 1] dilations = [1, 1] ins(%[[IMAGE]] : tensor<1x?x4x4xf32>)
func.func @im2col(%i: tensor<1x8x8x4xf32>, %o: tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32> {
  %0 = linalg_ext.im2col strides = [1, 1] dilations = [1, 1] ins(%i : tensor<1x8x8x4xf32>)
      outs(%o : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  return %0 : tensor<1x6x6x3x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @pooling
// CHECK: scf.for %[[Y:.*]] = %c0 to %{{.*}} step %c3
// CHECK: scf.for %[[X:.*]] = %c0 to %{{.*}} step %c2
// CHECK: scf.for %[[C:.*]] = %c0 to %c4 step %c2
// CHECK: %[[IMAGE:.*]] = tensor.extract_slice %{{.*}}[0, %{{.*}}, %{{.*}}, %[[C]]] [1, %{{.*}}, %{{.*}}, 2] [1, 1, 1, 1]
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}}[0, %[[Y]], %[[X]], %[[C]]] [1, %{{.*}}, %{{.*}}, 2] [1, 1, 1, 1]
// CHECK: linalg_ext.pooling_nhwc_max_nan {{.*}} ins(%[[IMAGE]], %{{.*}} : tensor<1x?x?x2xf32>, tensor<2x2xf32>) outs(%[[OUT]] : tensor<1x?x?x2xf32>)
func.func @pooling(%i: tensor<1x?x?x4xf32>, %w: tensor<2x2xf32>, %o: tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32> {
  %0 = linalg_ext.pooling_nhwc_max_nan strides = [2, 2] dilations = [1, 1] ins(%i, %w : tensor<1x?x?x4xf32>, tensor<2x2xf32>)
      outs(%o : tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32>
  return %0 : tensor<1x?x?x4xf32>
}

// -----

// CHECK-DAG: #[[DIAGONAL:.*]] = affine_map<(d0, d1)[s0] -> (d0 - d1 + s0)>
// CHECK-LABEL: func.func @tri
// CHECK-SAME: (%[[K:[^:]*]]: index
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c8 step %c3
// CHECK: %[[D:.*]] = affine.apply #[[DIAGONAL]](%[[I]], %[[J]])[%[[K]]]
// CHECK: linalg_ext.tri ins(%[[D]] : index) outs(%{{.*}} : tensor<4x?xf32>)
func.func @tri(%k: index, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg_ext.tri ins(%k : index) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @elementwise
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4 {
// CHECK-NEXT: %[[C:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [4] [1]
// CHECK-NEXT: linalg_ext.assert "all" ins(%[[C]] : tensor<4xi1>)
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [4] [1]
// CHECK: linalg_ext.libdevice_call ins(%[[X]], %{{.*}} : tensor<4xf32>, f32) outs(%{{.*}} : tensor<4xf32>)
func.func @elementwise(%x: tensor<8xf32>, %y: f32, %o: tensor<8xf32>, %c: tensor<8xi1>) -> tensor<8xf32> {
  linalg_ext.assert "all" ins(%c : tensor<8xi1>)
  %0 = linalg_ext.libdevice_call ins(%x, %y : tensor<8xf32>, f32) outs(%o : tensor<8xf32>) symbol = "f" -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Every tile of an atomic with indices gets all of the memory.
// CHECK-LABEL: func.func @atomics
// CHECK-SAME: %[[FAR:[^:]*]]: memref<?xf32>)
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: %[[M:.*]] = memref.subview %{{.*}}[%[[I]]] [4] [1]
// CHECK: linalg_ext.atomic_rmw addf acq_rel ins(%{{.*}} : tensor<4xf32>) outs(%[[M]], %{{.*}} : memref<4xf32, strided<[1], offset: ?>>, tensor<4xf32>)
// CHECK: scf.for
// CHECK: linalg_ext.gather_atomic_rmw addf acq_rel ins(%{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<4x1xi64>) outs(%[[FAR]], %{{.*}} : memref<?xf32>, tensor<4x1xf32>)
func.func @atomics(%v: tensor<8xf32>, %m: memref<8xf32, strided<[1], offset: ?>>, %o: tensor<8xf32>, %i: tensor<8x1xi64>, %w: tensor<8x1xf32>, %far: memref<?xf32>) -> (tensor<8xf32>, tensor<8x1xf32>) {
  %0 = linalg_ext.atomic_rmw addf acq_rel ins(%v : tensor<8xf32>) outs(%m, %o : memref<8xf32, strided<[1], offset: ?>>, tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg_ext.gather_atomic_rmw addf acq_rel ins(%w, %i : tensor<8x1xf32>, tensor<8x1xi64>) outs(%far, %w : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  return %0, %1 : tensor<8xf32>, tensor<8x1xf32>
}
