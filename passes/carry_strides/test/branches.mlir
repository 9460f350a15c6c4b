// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// An arm ends in a loop, whose result cannot be computed again behind the branch: both arms yield the offset.
// CHECK-LABEL: tt.func @loop_in_arm
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[C:.*]]: i1, %[[N:.*]]: i32)
// CHECK: %[[O:.*]] = scf.if %[[C]] -> (i64) {
// CHECK: %[[R:.*]] = scf.for {{.*}} -> (i64)
// CHECK: scf.yield %[[R]] : i64
// CHECK: } else {
// CHECK: scf.yield %c5_i64 : i64
// CHECK: %[[B:.*]] = tt.addptr %[[X]], %[[O]] : !tt.ptr<f32>, i64
// CHECK: %[[S:.*]] = tt.splat %[[B]]
// CHECK: %[[P:.*]] = tt.addptr %[[S]]
// CHECK: tt.load %[[P]]
tt.func @loop_in_arm(%x: !tt.ptr<f32>, %c: i1, %n: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant dense<5> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%q = %p0) -> (tensor<8x!tt.ptr<f32>>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<8xi32>
      %q1 = tt.addptr %q, %ks : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      scf.yield %q1 : tensor<8x!tt.ptr<f32>>
    }
    scf.yield %r : tensor<8x!tt.ptr<f32>>
  } else {
    %r = tt.addptr %p0, %c5 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %r : tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// Both arms gather at the same indices, so they yield the base.
// CHECK-LABEL: tt.func @one_rest
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %[[C:.*]]: i1, %[[I:.*]]: tensor<8xi32>)
// CHECK: %[[B:.*]] = arith.select %[[C]], %[[X]], %[[Y]] : !tt.ptr<f32>
// CHECK: %[[S:.*]] = tt.splat %[[B]]
// CHECK: %[[P:.*]] = tt.addptr %[[S]], %[[I]]
// CHECK: tt.load %[[P]]
tt.func @one_rest(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1, %i: tensor<8xi32>) -> tensor<8xf32> {
  %p = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  } else {
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %ys, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// Each arm computes the indices for itself, so both yield them.
// CHECK-LABEL: tt.func @inside
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %{{.*}}: !tt.ptr<f32>, %[[C:.*]]: i1,
// CHECK: %[[O:.*]] = scf.if %[[C]] -> (tensor<8xi64>) {
// CHECK-COUNT-2: scf.yield %{{.*}} : tensor<8xi64>
// CHECK: %[[S:.*]] = tt.splat %[[X]]
// CHECK: tt.addptr %[[S]], %[[O]] : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
tt.func @inside(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1, %a: tensor<8xi32>) -> tensor<8xf32> {
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %i = arith.muli %a, %a : tensor<8xi32>
    %q = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  } else {
    %i = arith.muli %a, %a : tensor<8xi32>
    %q = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}
