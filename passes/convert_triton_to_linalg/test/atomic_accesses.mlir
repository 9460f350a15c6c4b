// RUN: triton-linalg-opt %s -convert-triton-to-linalg -cse -split-input-file | FileCheck %s

// A load becomes an `or` of the bits with 0, a store an exchange.
// CHECK-LABEL: func.func @scalars
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[W:.*]] = tensor.from_elements %[[ZERO]] : tensor<1x1xi32>
// CHECK: %[[OLD:.*]] = linalg_ext.gather_atomic_rmw ori acquire ins(%[[W]], %{{.*}} : tensor<1x1xi32>, tensor<1x1xi64>) outs(%{{.*}}, %{{.*}} : memref<1xi32{{.*}}>, tensor<1x1xi32>) {scope = "gpu"}
// CHECK: %[[BITS:.*]] = tensor.extract %[[OLD]]
// CHECK: arith.bitcast %[[BITS]] : i32 to f32
// CHECK: linalg_ext.gather_atomic_rmw assign release ins({{.*}} : tensor<1x1xf32>, tensor<1x1xi64>, tensor<1xi1>) {{.*}} {scope = "sys"}
tt.func @scalars(%p: !tt.ptr<f32>, %x: f32, %c: i1) -> f32 {
  %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<f32>) -> f32
  tt.atomic_store release, sys, %p, %x, %c : !tt.ptr<f32>
  tt.return %0 : f32
}

// -----

// Contiguous elements become a view.
// CHECK-LABEL: func.func @tensors
// CHECK: aux.view %{{.*}} to offset: [0], sizes: [64], strides: [1] : !llvm.ptr to memref<64xi32, strided<[1]>>
// CHECK: linalg_ext.atomic_rmw ori relaxed
// CHECK: aux.view %{{.*}} to offset: [0], sizes: [64], strides: [1] : !llvm.ptr to memref<64xf32, strided<[1]>>
// CHECK: linalg_ext.atomic_rmw assign relaxed
tt.func @tensors(%p: !tt.ptr<f32>) -> tensor<64xf32> {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %0 = tt.atomic_load relaxed, gpu, %pp : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
  tt.atomic_store relaxed, gpu, %pp, %0 : tensor<64x!tt.ptr<f32>>
  tt.return %0 : tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func @poll
// CHECK-SAME: (%[[P:[^:]*]]: i64, %[[N:[^:]*]]: i32)
// CHECK: %[[R:.*]] = scf.while : () -> i1 {
// CHECK: linalg_ext.gather_atomic_rmw ori acquire
// CHECK: %[[V:.*]] = tensor.extract
// CHECK-DAG: %[[IS:.*]] = arith.cmpi eq, %[[V]], %[[N]] : i32
// CHECK-DAG: %[[AGAIN:.*]] = arith.cmpi ne, %[[V]], %[[N]] : i32
// CHECK: scf.condition(%[[AGAIN]]) %[[IS]] : i1
// CHECK: return %[[R]] : i1
tt.func @poll(%p: !tt.ptr<i32>, %n: i32) -> i1 {
  %0 = tt.atomic_poll acquire, gpu, %p, %n : !tt.ptr<i32>, i32 -> i1
  tt.return %0 : i1
}

// -----

// All elements share one timeout, which counts loads.
// CHECK-LABEL: func.func @poll_tensor
// CHECK-SAME: (%[[P:[^:]*]]: tensor<8xi64>, %[[N:[^:]*]]: tensor<8xi32>, %[[T:[^:]*]]: i64)
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[ARRAY:.*]] = %{{.*}}, %[[LEFT:.*]] = %[[T]]) -> (tensor<8xi1>, i64) {
// CHECK: %[[A:.*]] = tensor.extract %[[P]][%[[I]]] : tensor<8xi64>
// CHECK: tensor.extract %[[N]][%[[I]]] : tensor<8xi32>
// CHECK: %[[W:.*]]:2 = scf.while (%[[L:.*]] = %[[LEFT]]) : (i64) -> (i1, i64) {
// CHECK: llvm.inttoptr %[[A]]
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %[[L]], %{{.*}} : i64
// CHECK: arith.andi %{{.*}}, %[[MORE]] : i1
// CHECK: arith.subi %{{.*}}, %{{.*}} : i64
// CHECK: tensor.insert %[[W]]#0 into %[[ARRAY]][%[[I]]]
// CHECK: scf.yield %{{.*}}, %[[W]]#1 : tensor<8xi1>, i64
// CHECK: return %[[R]]#0
tt.func @poll_tensor(%p: tensor<8x!tt.ptr<i32>>, %n: tensor<8xi32>, %t: i64) -> tensor<8xi1> {
  %0 = tt.atomic_poll relaxed, gpu, %p, %n timeout %t : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>
  tt.return %0 : tensor<8xi1>
}

// -----

// CHECK-LABEL: func.func @poll_of_two_dimensions
// CHECK: %[[ROWS:.*]] = arith.constant 2 : index
// CHECK: %[[COLUMNS:.*]] = arith.constant 8 : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[ROWS]] step %{{.*}} iter_args
// CHECK-NEXT: scf.for %[[J:.*]] = %{{.*}} to %[[COLUMNS]] step %{{.*}} iter_args(%[[ARRAY:.*]] = %{{.*}})
// CHECK: scf.while
// CHECK: tensor.insert %{{.*}} into %[[ARRAY]][%[[I]], %[[J]]]
tt.func @poll_of_two_dimensions(%p: tensor<2x8x!tt.ptr<i32>>, %n: tensor<2x8xi32>) -> tensor<2x8xi1> {
  %0 = tt.atomic_poll relaxed, gpu, %p, %n : tensor<2x8x!tt.ptr<i32>>, tensor<2x8xi32> -> tensor<2x8xi1>
  tt.return %0 : tensor<2x8xi1>
}
