// RUN: triton-ext-opt %s -canonicalize-triton -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func @splats
// CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i32)
// CHECK: %[[S:.*]] = arith.addi %[[A]], %[[B]] : i32
// CHECK: %[[R:.*]] = tt.splat %[[S]] : i32 -> tensor<8xi32>
// CHECK: tt.return %[[R]]
tt.func @splats(%a: i32, %b: i32) -> tensor<8xi32> {
  %0 = tt.splat %a : i32 -> tensor<8xi32>
  %1 = tt.splat %b : i32 -> tensor<8xi32>
  %2 = arith.addi %0, %1 : tensor<8xi32>
  tt.return %2 : tensor<8xi32>
}

// -----

// A splat moves through operations with constants, to another type, and through changes of shape; attributes stay.
// CHECK-LABEL: tt.func @more_splats
// CHECK-SAME: (%[[A:.*]]: i32)
// CHECK: %[[C:.*]] = arith.constant 3 : i32
// CHECK: %[[S:.*]] = arith.muli %[[A]], %[[C]] overflow<nsw> : i32
// CHECK: %[[F:.*]] = arith.sitofp %[[S]] : i32 to f32
// CHECK: %[[R:.*]] = tt.splat %[[F]] : f32 -> tensor<8x4xf32>
// CHECK: tt.return %[[R]]
tt.func @more_splats(%a: i32) -> tensor<8x4xf32> {
  %c = arith.constant dense<3> : tensor<8xi32>
  %0 = tt.splat %a : i32 -> tensor<8xi32>
  %1 = arith.muli %0, %c overflow<nsw> : tensor<8xi32>
  %2 = arith.sitofp %1 : tensor<8xi32> to tensor<8xf32>
  %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %4 = tt.broadcast %3 : tensor<8x1xf32> -> tensor<8x4xf32>
  tt.return %4 : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: tt.func @pointers
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[A:.*]]: i32, %[[O:.*]]: tensor<8xi32>)
// CHECK-DAG: %[[Q:.*]] = tt.addptr %[[P]], %[[A]] : !tt.ptr<f32>, i32
// CHECK-DAG: %[[B:.*]] = tt.splat %[[Q]] : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
// CHECK-DAG: %[[E:.*]] = tt.expand_dims %[[O]] {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
// CHECK: %[[R:.*]] = tt.addptr %[[B]], %[[E]]
// CHECK: tt.return %[[R]]
tt.func @pointers(%p: !tt.ptr<f32>, %a: i32, %o: tensor<8xi32>) -> tensor<8x1x!tt.ptr<f32>> {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %1 = tt.splat %a : i32 -> tensor<8xi32>
  %2 = tt.addptr %0, %1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %3 = tt.addptr %2, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %4 = tt.expand_dims %3 {axis = 1 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<8x1x!tt.ptr<f32>>
  tt.return %4 : tensor<8x1x!tt.ptr<f32>>
}

// -----

// CHECK-LABEL: tt.func @masks
// CHECK-SAME: (%[[N:.*]]: i32, %[[R:.*]]: tensor<8xi32>, %[[M:.*]]: tensor<8xi1>)
// CHECK: %[[S:.*]] = tt.splat %[[N]]
// CHECK: %[[A:.*]] = arith.cmpi slt, %[[R]], %[[S]]
// CHECK: %[[B:.*]] = arith.cmpi uge, %[[R]], %[[S]]
// CHECK: %[[AND:.*]] = arith.andi %[[A]], %[[M]]
// CHECK: %[[OR:.*]] = arith.ori %[[B]], %[[M]]
// CHECK: tt.return %[[AND]], %[[OR]]
tt.func @masks(%n: i32, %r: tensor<8xi32>, %m: tensor<8xi1>) -> (tensor<8xi1>, tensor<8xi1>) {
  %false = arith.constant dense<false> : tensor<8xi1>
  %true = arith.constant dense<true> : tensor<8xi1>
  %0 = tt.splat %n : i32 -> tensor<8xi32>
  %1 = arith.cmpi sgt, %0, %r : tensor<8xi32>
  %2 = arith.cmpi ule, %0, %r : tensor<8xi32>
  %3 = arith.select %1, %m, %false : tensor<8xi1>, tensor<8xi1>
  %4 = arith.select %2, %true, %m : tensor<8xi1>, tensor<8xi1>
  tt.return %3, %4 : tensor<8xi1>, tensor<8xi1>
}

// -----

// Scalars, and tensors whose elements differ, are left untouched.
// CHECK-LABEL: tt.func @left_alone
// CHECK-NEXT: arith.cmpi sgt, %{{.*}} : i32
// CHECK-NEXT: arith.select %{{.*}} : f32
// CHECK-NEXT: arith.addi %{{.*}} : tensor<8xi32>
// CHECK-NEXT: tt.return
tt.func @left_alone(%a: i32, %b: i32, %x: f32, %y: f32, %t: tensor<8xi32>) -> (f32, tensor<8xi32>) {
  %0 = arith.cmpi sgt, %a, %b : i32
  %1 = arith.select %0, %x, %y : f32
  %2 = arith.addi %t, %t : tensor<8xi32>
  tt.return %1, %2 : f32, tensor<8xi32>
}
