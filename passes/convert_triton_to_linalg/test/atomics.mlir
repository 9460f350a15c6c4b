// RUN: triton-linalg-opt %s -convert-triton-to-linalg -cse -split-input-file | FileCheck %s

// Contiguous elements under a mask that is a box become a view of exactly these.
// CHECK-LABEL: func.func @rmw
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[N:[^:]*]]: i32, %[[V:[^:]*]]: tensor<64xf32>)
// CHECK: %[[VIEW:.*]] = aux.view %{{.*}} to offset: [0], sizes: [%[[SIZE:.*]]], strides: [1] : !llvm.ptr to memref<?xf32, strided<[1]>>
// CHECK: %[[INIT:.*]] = tensor.empty(%[[SIZE]]) : tensor<?xf32>
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[V]][0] [%[[SIZE]]] [1] : tensor<64xf32> to tensor<?xf32>
// CHECK: %[[OLD:.*]] = linalg_ext.atomic_rmw addf acq_rel ins(%[[PART]] : tensor<?xf32>) outs(%[[VIEW]], %[[INIT]] : memref<?xf32, strided<[1]>>, tensor<?xf32>) {scope = "gpu"} -> tensor<?xf32>
// CHECK: %[[R:.*]] = linalg_ext.pad ins(%[[OLD]] : tensor<?xf32>) outs(%{{.*}} : tensor<64xf32>) pvalue(%{{.*}} : f32) low = [0] high = [%{{.*}}]
// CHECK: return %[[R]]
tt.func @rmw(%p: !tt.ptr<f32>, %n: i32, %v: tensor<64xf32>) -> tensor<64xf32> {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %range, %ns : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %pp, %v, %mask : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  tt.return %0 : tensor<64xf32>
}

// -----

// All elements of strided rows become a view, also for an exchange.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[S:[^:]*]]: i32, %[[V:[^:]*]]: tensor<4x8xi32>)
// CHECK: %[[VIEW:.*]] = aux.view %{{.*}} to offset: [0], sizes: [4, 8], strides: [%{{.*}}, 1] : !llvm.ptr to memref<4x8xi32, strided<[?, 1]>>
// CHECK: linalg_ext.atomic_rmw maxs relaxed ins(%[[V]] : tensor<4x8xi32>) outs(%[[VIEW]], %{{.*}} : memref<4x8xi32, strided<[?, 1]>>, tensor<4x8xi32>) {scope = "gpu"} -> tensor<4x8xi32>
// CHECK: %[[R:.*]] = linalg_ext.atomic_cas acquire ins(%[[V]], %[[V]] : tensor<4x8xi32>, tensor<4x8xi32>) outs(%{{.*}}, %{{.*}} : memref<4x8xi32, strided<[?, 1]>>, tensor<4x8xi32>) {scope = "sys"} -> tensor<4x8xi32>
// CHECK-NOT: linalg_ext.pad
// CHECK: return %[[R]]
tt.func @rows(%p: !tt.ptr<i32>, %s: i32, %v: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %c = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ss = tt.splat %s : i32 -> tensor<4x1xi32>
  %rs = arith.muli %re, %ss : tensor<4x1xi32>
  %rb = tt.broadcast %rs : tensor<4x1xi32> -> tensor<4x8xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %cb = tt.broadcast %ce : tensor<1x8xi32> -> tensor<4x8xi32>
  %o = arith.addi %rb, %cb : tensor<4x8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %o : tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>
  %0 = tt.atomic_rmw max, relaxed, gpu, %pp, %v : (tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %1 = tt.atomic_cas acquire, sys, %pp, %v, %v : (tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  tt.return %1 : tensor<4x8xi32>
}

// -----

// Elements at one address, and a mask that is not a box, have no view.
// CHECK-LABEL: func.func @negative_pieces
// CHECK-NOT: linalg_ext.atomic_rmw
// CHECK: linalg_ext.gather_atomic_rmw
// CHECK-NOT: linalg_ext.atomic_rmw
// CHECK: linalg_ext.gather_atomic_rmw
// CHECK-NOT: linalg_ext.atomic_rmw
tt.func @negative_pieces(%p: !tt.ptr<i32>, %v: tensor<64xi32>, %m: tensor<64xi1>) -> (tensor<64xi32>, tensor<64xi32>) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %0 = tt.atomic_rmw add, acq_rel, gpu, %ps, %v : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>) -> tensor<64xi32>
  %pp = tt.addptr %ps, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %1 = tt.atomic_rmw add, acq_rel, gpu, %pp, %v, %m : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
  tt.return %0, %1 : tensor<64xi32>, tensor<64xi32>
}
