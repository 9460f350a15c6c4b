// RUN: triton-ext-opt %s -ptr-strength-reduction -canonicalize -split-input-file | FileCheck %s

// Both amounts reach the scalar pointer: one is added to a line, the other to a tile that is made of it.
// CHECK-LABEL: tt.func @tile
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[R:.*]]: tensor<8xi32>, %[[S:.*]]: i32, %[[T:.*]]: i64)
// CHECK-DAG: %[[P1:.*]] = tt.addptr %[[P]], %[[S]] : !tt.ptr<f32>, i32
// CHECK-DAG: %[[P2:.*]] = tt.addptr %[[P1]], %[[T]] : !tt.ptr<f32>, i64
// CHECK: %[[B:.*]] = tt.splat %[[P2]]
// CHECK: %[[L:.*]] = tt.addptr %[[B]], %[[R]] : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK: %[[E:.*]] = tt.expand_dims %[[L]] {axis = 0 : i32}
// CHECK: %[[W:.*]] = tt.broadcast %[[E]]
// CHECK: tt.return %[[W]]
tt.func @tile(%p: !tt.ptr<f32>, %r: tensor<8xi32>, %s: i32, %t: i64) -> tensor<4x8x!tt.ptr<f32>> {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %1 = tt.addptr %0, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %2 = tt.splat %s : i32 -> tensor<8xi32>
  %3 = tt.addptr %1, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<1x8x!tt.ptr<f32>>
  %5 = tt.broadcast %4 : tensor<1x8x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
  %6 = tt.splat %t : i64 -> tensor<4x8xi64>
  %7 = tt.addptr %5, %6 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi64>
  tt.return %7 : tensor<4x8x!tt.ptr<f32>>
}

// -----

// A constant amount, over a transposition and a reshape. The other user of the tile keeps its pointers.
// CHECK-LABEL: tt.func @moved
// CHECK-SAME: (%[[P:.*]]: tensor<4x8x!tt.ptr<f32>>)
// CHECK-DAG: %[[C:.*]] = arith.constant dense<3> : tensor<4x8xi32>
// CHECK-DAG: %[[Q:.*]] = tt.addptr %[[P]], %[[C]]
// CHECK-DAG: %[[QT:.*]] = tt.trans %[[Q]] {order = array<i32: 1, 0>}
// CHECK-DAG: %[[QR:.*]] = tt.reshape %[[QT]]
// CHECK-DAG: %[[PT:.*]] = tt.trans %[[P]] {order = array<i32: 1, 0>}
// CHECK-DAG: %[[PR:.*]] = tt.reshape %[[PT]]
// CHECK: tt.return %[[QR]], %[[PR]]
tt.func @moved(%p: tensor<4x8x!tt.ptr<f32>>) -> (tensor<32x!tt.ptr<f32>>, tensor<32x!tt.ptr<f32>>) {
  %0 = tt.trans %p {order = array<i32: 1, 0>} : tensor<4x8x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
  %1 = tt.reshape %0 : tensor<8x4x!tt.ptr<f32>> -> tensor<32x!tt.ptr<f32>>
  %three = arith.constant dense<3> : tensor<32xi32>
  %2 = tt.addptr %1, %three : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.return %2, %1 : tensor<32x!tt.ptr<f32>>, tensor<32x!tt.ptr<f32>>
}

// -----

// Amounts that differ from element to element stay where they are.
// CHECK-LABEL: tt.func @different
// CHECK: %[[W:.*]] = tt.broadcast
// CHECK-NEXT: tt.addptr %[[W]], %{{.*}} : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
tt.func @different(%p: tensor<1x8x!tt.ptr<f32>>, %o: tensor<4x8xi32>) -> tensor<4x8x!tt.ptr<f32>> {
  %0 = tt.broadcast %p : tensor<1x8x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
  %1 = tt.addptr %0, %o : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
  tt.return %1 : tensor<4x8x!tt.ptr<f32>>
}
