// RUN: triton-linalg-opt %s -lower-linalg-ext=program-arguments=false -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @named
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) dimensions = [1]
// CHECK: linalg.reduce { arith.maxnumf } ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<f32>) dimensions = [0, 1]
// CHECK: linalg.reduce { arith.minsi } ins(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<i32>) dimensions = [0]
// CHECK: linalg.reduce { arith.maximumf } ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) dimensions = [1]
// CHECK: linalg.reduce { arith.minimumf } ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) dimensions = [1]
func.func @named(%t: tensor<4x8xf32>, %o: tensor<4xf32>, %s: tensor<f32>, %i: tensor<?xi32>, %j: tensor<i32>)
    -> (tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg_ext.reduce_max dimensions = [0, 1] ins(%t : tensor<4x8xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %2 = linalg_ext.reduce_min dimensions = [0] ins(%i : tensor<?xi32>) outs(%j : tensor<i32>) -> tensor<i32>
  %3 = linalg_ext.reduce_max_nan dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %4 = linalg_ext.reduce_min_nan dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A reduction on memrefs becomes one on tensors.
// CHECK-LABEL: func.func @on_memory
// CHECK-SAME: (%[[M:[^:]*]]: memref<4x8xf32>, %[[N:[^:]*]]: memref<4xf32>)
// CHECK-DAG: %[[A:.*]] = bufferization.to_tensor %[[M]]
// CHECK-DAG: %[[B:.*]] = bufferization.to_tensor %[[N]]
// CHECK: %[[R:.*]] = linalg.reduce { arith.addf } ins(%[[A]] : tensor<4x8xf32>) outs(%[[B]] : tensor<4xf32>) dimensions = [1]
// CHECK: bufferization.materialize_in_destination %[[R]] in {{.*}}%[[N]]
func.func @on_memory(%m: memref<4x8xf32>, %n: memref<4xf32>) {
  linalg_ext.reduce_sum dimensions = [1] ins(%m : memref<4x8xf32>) outs(%n : memref<4xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @argmax
// CHECK: linalg.reduce ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xi32>) outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>) dimensions = [1]
// CHECK-NEXT: (%[[X:.*]]: f32, %[[J:.*]]: i32, %[[V:.*]]: f32, %[[I:.*]]: i32) {
// CHECK-DAG: %[[MORE:.*]] = arith.cmpf ogt, %[[V]], %[[X]] : f32
// CHECK-DAG: %[[SAME:.*]] = arith.cmpf oeq, %[[V]], %[[X]] : f32
// CHECK-DAG: %[[LEFT:.*]] = arith.cmpi slt, %[[I]], %[[J]] : i32
// CHECK: %[[TIE:.*]] = arith.andi %[[SAME]], %[[LEFT]] : i1
// CHECK: %[[STAYS:.*]] = arith.ori %[[MORE]], %[[TIE]] : i1
// CHECK-DAG: %[[RV:.*]] = arith.select %[[STAYS]], %[[V]], %[[X]] : f32
// CHECK-DAG: %[[RI:.*]] = arith.select %[[STAYS]], %[[I]], %[[J]] : i32
// CHECK: linalg.yield %[[RV]], %[[RI]] : f32, i32
func.func @argmax(%x: tensor<4x8xf32>, %j: tensor<4x8xi32>, %o: tensor<4xf32>, %p: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%x, %j : tensor<4x8xf32>, tensor<4x8xi32>)
      outs(%o, %p : tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>, tensor<4xi32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @argmin
// CHECK: (%[[X:.*]]: i16, %[[J:.*]]: i32, %[[V:.*]]: i16, %[[I:.*]]: i32) {
// CHECK-NEXT: %[[STAYS:.*]] = arith.cmpi slt, %[[V]], %[[X]] : i16
// CHECK-NOT: arith.cmpi
// CHECK: arith.select %[[STAYS]]
func.func @argmin(%x: tensor<8xi16>, %j: tensor<8xi32>, %o: tensor<i16>, %p: tensor<i32>) -> (tensor<i16>, tensor<i32>) {
  %0:2 = linalg_ext.argmin dimension = 0 tie_break_left(false) ins(%x, %j : tensor<8xi16>, tensor<8xi32>)
      outs(%o, %p : tensor<i16>, tensor<i32>) -> tensor<i16>, tensor<i32>
  return %0#0, %0#1 : tensor<i16>, tensor<i32>
}

// -----

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2 + d5, d3 * 2 + d6, d7)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d4, d5, d6, d7)>
// CHECK-DAG: #[[INIT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: func.func @conv
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[INIT]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %[[C:.*]]: f32):
// CHECK-DAG: %[[X:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-DAG: %[[Y:.*]] = arith.extf %[[B]] : f16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK: arith.addf %[[C]], %[[P]] : f32
func.func @conv(%a: tensor<2x1x8x9x4xf16>, %f: tensor<2x16x3x3x4xf16>, %o: tensor<2x1x6x4x16xf32>) -> tensor<2x1x6x4x16xf32> {
  %0 = linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 2] dilations = [1, 1]
      ins(%a, %f : tensor<2x1x8x9x4xf16>, tensor<2x16x3x3x4xf16>) outs(%o : tensor<2x1x6x4x16xf32>) -> tensor<2x1x6x4x16xf32>
  return %0 : tensor<2x1x6x4x16xf32>
}

// -----

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d3 * 2, d2 + d4, d5)>
// CHECK-LABEL: func.func @im2col
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[A]] : f32
func.func @im2col(%i: tensor<1x8x8x4xf32>, %c: tensor<1x4x6x3x3x4xf32>) -> tensor<1x4x6x3x3x4xf32> {
  %0 = linalg_ext.im2col strides = [1, 1] dilations = [2, 1] ins(%i : tensor<1x8x8x4xf32>)
      outs(%c : tensor<1x4x6x3x3x4xf32>) -> tensor<1x4x6x3x3x4xf32>
  return %0 : tensor<1x4x6x3x3x4xf32>
}

// -----

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
// CHECK-LABEL: func.func @pooling
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #[[WINDOW]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32, %[[C:.*]]: f32):
// CHECK-NEXT: arith.maximumf %[[C]], %[[A]] : f32
// CHECK: arith.minimumf
func.func @pooling(%i: tensor<1x8x8x4xf32>, %w: tensor<2x2xf32>, %p: tensor<1x4x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %0 = linalg_ext.pooling_nhwc_max_nan strides = [2, 2] dilations = [1, 1]
      ins(%i, %w : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%p : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %1 = linalg_ext.pooling_nhwc_min_nan strides = [2, 2] dilations = [1, 1]
      ins(%i, %w : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%p : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %0, %1 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @tri
// CHECK-SAME: (%[[D:[^:]*]]: index
// CHECK: linalg.generic {{.*}} ins(%[[D]] : index)
// CHECK-NEXT: ^bb0(%[[K:[^:]*]]: index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ROW:.*]] = linalg.index 0 : index
// CHECK-DAG: %[[COLUMN:.*]] = linalg.index 1 : index
// CHECK-DAG: %[[LAST:.*]] = arith.addi %[[ROW]], %[[K]] : index
// CHECK: %[[IN:.*]] = arith.cmpi sle, %[[COLUMN]], %[[LAST]] : index
// CHECK: arith.select %[[IN]], %[[ONE]], %[[ZERO]] : f32
func.func @tri(%k: index, %o: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = linalg_ext.tri ins(%k : index) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// CHECK-LABEL: llvm.func internal @triton_ext_compare_and_swap_32
// CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr, %[[EXPECTED:[^:]*]]: i32, %[[NEW:[^:]*]]: i32) -> i32
// CHECK: %[[PAIR:.*]] = llvm.cmpxchg %[[P]], %[[EXPECTED]], %[[NEW]] acq_rel acquire : !llvm.ptr, i32
// CHECK: %[[WAS:.*]] = llvm.extractvalue %[[PAIR]][0]
// CHECK: llvm.return %[[WAS]] : i32
// CHECK-LABEL: func.func @atomics
// CHECK-SAME: (%[[V:[^:]*]]: tensor<?x8xf32>, %[[M:[^:]*]]: memref<?x8xf32>, %{{[^:]*}}: tensor<8xf32>, %[[N:[^:]*]]: memref<8xf32>
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %[[V]]) -> (tensor<?x8xf32>) {
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (tensor<?x8xf32>) {
// CHECK: %[[X:.*]] = tensor.extract %[[V]][%[[I]], %[[J]]]
// CHECK: %[[OLD:.*]] = memref.atomic_rmw addf %[[X]], %[[M]][%[[I]], %[[J]]] : (f32, memref<?x8xf32>) -> f32
// CHECK: tensor.insert %[[OLD]] into %[[B]][%[[I]], %[[J]]]
// CHECK: memref.extract_strided_metadata %[[N]]
// CHECK: memref.extract_aligned_pointer_as_index %[[N]]
// CHECK: %[[NOW:.*]] = llvm.call @triton_ext_compare_and_swap_32(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i32) -> i32
// CHECK: %[[C:.*]] = arith.bitcast %[[NOW]] : i32 to f32
// CHECK: tensor.insert %[[C]]
func.func @atomics(%v: tensor<?x8xf32>, %m: memref<?x8xf32>, %e: tensor<8xf32>, %n: memref<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %0 = linalg_ext.atomic_rmw addf acq_rel ins(%v : tensor<?x8xf32>) outs(%m, %v : memref<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg_ext.atomic_cas relaxed ins(%e, %e : tensor<8xf32>, tensor<8xf32>) outs(%n, %e : memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<8xf32>
}
