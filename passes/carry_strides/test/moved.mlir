// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// The loop adds loaded offsets to rows at loaded indices: a scalar and one offset for each row are carried. The
// scalar, to which nothing is added, is the same in every iteration.
// CHECK-LABEL: tt.func @rows
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[I:.*]]: tensor<8x1xi32>, %[[STEPS:.*]]: tensor<8x!tt.ptr<i32>>, %[[N:.*]]: i32)
// CHECK: %[[REST:.*]] = tt.broadcast %[[I]]
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[O:.*]] = %cst) -> (tensor<8xi64>)
// CHECK-DAG: %[[S:.*]] = tt.splat %[[X]]
// CHECK-DAG: %[[P:.*]] = tt.addptr %[[S]], %[[REST]] : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
// CHECK-DAG: %[[E:.*]] = tt.expand_dims %[[O]] {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
// CHECK-DAG: %[[W:.*]] = tt.broadcast %[[E]] : tensor<8x1xi64> -> tensor<8x4xi64>
// CHECK: %[[Q:.*]] = tt.addptr %[[P]], %[[W]] : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi64>
// CHECK: tt.store %[[Q]]
// CHECK: %[[STEP:.*]] = tt.load %[[STEPS]]
// CHECK: %[[WIDE:.*]] = arith.extsi %[[STEP]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %[[WIDE]] : tensor<8xi64>
// CHECK: scf.yield %[[NEXT]]
// CHECK: tt.expand_dims %[[R]]
// CHECK: tt.load
tt.func @rows(%x: !tt.ptr<f32>, %i: tensor<8x1xi32>, %steps: tensor<8x!tt.ptr<i32>>, %n: i32) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %w = tt.broadcast %i : tensor<8x1xi32> -> tensor<8x4xi32>
  %p0 = tt.addptr %xs, %w : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x4x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x4x!tt.ptr<f32>>
    %step = tt.load %steps : tensor<8x!tt.ptr<i32>>
    %e = tt.expand_dims %step {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %b = tt.broadcast %e : tensor<8x1xi32> -> tensor<8x4xi32>
    %q = tt.addptr %p, %b : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
    scf.yield %q : tensor<8x4x!tt.ptr<f32>>
  }
  %v = tt.load %r : tensor<8x4x!tt.ptr<f32>>
  tt.return %v : tensor<8x4xf32>
}

// Both regions of a while, before and after its condition, have the scalar and the offsets as arguments. The loop advances
// the scalar, too.
// CHECK-LABEL: tt.func @in_while
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[STEP:.*]]: tensor<8xi64>, %[[N:.*]]: i32)
// CHECK: scf.while (%{{.*}} = %c0_i32, %[[B:.*]] = %[[X]], %[[O:.*]] = %cst) : (i32, !tt.ptr<f32>, tensor<8xi64>) -> (i32, !tt.ptr<f32>, tensor<8xi64>)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[B]], %[[O]]
// CHECK: ^bb0(%{{.*}}: i32, %[[B:.*]]: !tt.ptr<f32>, %[[O:.*]]: tensor<8xi64>)
// CHECK: %[[S:.*]] = tt.splat %[[B]]
// CHECK: %[[P:.*]] = tt.addptr %[[S]], %[[O]]
// CHECK: tt.store %[[P]]
// CHECK-DAG: %[[B2:.*]] = tt.addptr %[[B]], %c3_i32
// CHECK-DAG: %[[O2:.*]] = arith.addi %[[O]], %[[STEP]]
// CHECK: scf.yield %{{.*}}, %[[B2]], %[[O2]]
tt.func @in_while(%x: !tt.ptr<f32>, %step: tensor<8xi64>, %n: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %p0 = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %r:2 = scf.while (%k = %c0, %p = %p0) : (i32, tensor<8x!tt.ptr<f32>>) -> (i32, tensor<8x!tt.ptr<f32>>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %p : i32, tensor<8x!tt.ptr<f32>>
  } do {
  ^bb0(%k: i32, %p: tensor<8x!tt.ptr<f32>>):
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
    %s = tt.addptr %q, %c3 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %k1 = arith.addi %k, %c1 : i32
    scf.yield %k1, %s : i32, tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %r#1 : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// Only the second arm of a branch adds offsets, which it loads: the first one yields zeros.
// CHECK-LABEL: tt.func @in_branch
// CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %cst) -> (tensor<8xi64>)
// CHECK: %[[MORE:.*]] = scf.if %{{.*}} -> (tensor<8xi64>) {
// CHECK: scf.yield %cst : tensor<8xi64>
// CHECK: } else {
// CHECK: %[[STEP:.*]] = tt.load
// CHECK: scf.yield %[[STEP]] : tensor<8xi64>
// CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %[[MORE]] : tensor<8xi64>
// CHECK: scf.yield %[[NEXT]]
tt.func @in_branch(%x: !tt.ptr<f32>, %i: tensor<8xi32>, %steps: tensor<8x!tt.ptr<i64>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %first = arith.cmpi eq, %k, %c0 : i32
    %q = scf.if %first -> (tensor<8x!tt.ptr<f32>>) {
      scf.yield %p : tensor<8x!tt.ptr<f32>>
    } else {
      %step = tt.load %steps : tensor<8x!tt.ptr<i64>>
      %s = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
      scf.yield %s : tensor<8x!tt.ptr<f32>>
    }
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// Offsets along both dimensions, and along another one than those of the tensor it is swapped with, are as many as
// there are elements.
// CHECK-LABEL: tt.func @everywhere
// CHECK: scf.for {{.*}} -> (tensor<8x8xi64>)
// CHECK-LABEL: tt.func @crossed
// CHECK: scf.for {{.*}} -> (tensor<8x8xi64>, tensor<8x8xi64>)
tt.func @everywhere(%x: !tt.ptr<f32>, %i: tensor<8x1xi32>, %j: tensor<1x8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %p0 = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %a = tt.broadcast %i : tensor<8x1xi32> -> tensor<8x8xi32>
  %b = tt.broadcast %j : tensor<1x8xi32> -> tensor<8x8xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x8x!tt.ptr<f32>>
    %q = tt.addptr %p, %a : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
    %s = tt.addptr %q, %b : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
    scf.yield %s : tensor<8x8x!tt.ptr<f32>>
  }
  tt.return
}
tt.func @crossed(%x: !tt.ptr<f32>, %i: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %p0 = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %a = tt.broadcast %rows : tensor<8x1xi32> -> tensor<8x8xi32>
  %b = tt.broadcast %columns : tensor<1x8xi32> -> tensor<8x8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %p0)
      -> (tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x8x!tt.ptr<f32>>
    %s = tt.addptr %p, %a : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
    %t = tt.addptr %q, %b : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
    scf.yield %t, %s : tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>
  }
  tt.return
}
