// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// One of the swapped tensors wraps around. The modulus of the other one is
// greater than any offset. Dividends and strides are the same.
// CHECK-LABEL: tt.func @swapped
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %{{.*}}: i32, %[[M:.*]]: i32)
// CHECK: %[[W:.*]] = arith.extsi %[[M]] : i32 to i64
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[MA:.*]] = %[[W]], %[[B:.*]] = %[[Y]], %[[MB:.*]] = %c2305843009213693952_i64) -> (!tt.ptr<f32>, i64, !tt.ptr<f32>, i64)
// CHECK: %[[S:.*]] = tt.splat %[[MA]] : i64 -> tensor<8xi64>
// CHECK: %[[R:.*]] = arith.remsi %{{.*}}, %[[S]] : tensor<8xi64>
// CHECK: %[[P:.*]] = tt.addptr %{{.*}}, %[[R]]
// CHECK: tt.store %[[P]]
// CHECK: scf.yield %[[B]], %[[MB]], %[[A]], %[[MA]]
tt.func @swapped(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %w = arith.remsi %i, %ms : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %w : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %q0 = tt.addptr %ys, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// The tiles wrap around along different dimensions, with different strides. A
// product may be 0, so it does not become a modulus then.
// CHECK-LABEL: tt.func @tiles
// CHECK: %[[MS:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[MS]], %c0_i64 : i64
// CHECK: %[[MODULUS:.*]] = arith.select %[[ZERO]], %c2305843009213693952_i64, %[[MS]] : i64
// CHECK: %[[L:.*]]:9 = scf.while ({{.*}} = %[[MODULUS]], {{.*}} = %c4_i64, %{{.*}} = %c2305843009213693952_i64, %{{.*}} = %c3_i64)
// CHECK: %[[STRIDE:.*]] = tt.splat %[[L]]#2 : i64 -> tensor<8xi64>
// CHECK: %[[DIVIDEND:.*]] = arith.muli %{{.*}}, %[[STRIDE]] overflow<nsw> : tensor<8xi64>
// CHECK: %[[BY:.*]] = tt.splat %[[L]]#3 : i64 -> tensor<8xi64>
// CHECK: arith.remsi %[[DIVIDEND]], %[[BY]] : tensor<8xi64>
// CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32}
// CHECK: tt.splat %[[L]]#4 : i64 -> tensor<4xi64>
// CHECK: arith.remsi
// CHECK: tt.expand_dims %{{.*}} {axis = 0 : i32}
tt.func @tiles(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %m: i32, %s: i32) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant dense<4> : tensor<8x1xi32>
  %three = arith.constant dense<3> : tensor<4xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %ss = tt.splat %s : i32 -> tensor<8x1xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %im = arith.remsi %i, %ms : tensor<8xi32>
  %j3 = arith.remsi %j, %three : tensor<4xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ime = tt.expand_dims %im {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %j3e = tt.expand_dims %j3 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %i4 = arith.muli %ie, %c4 : tensor<8x1xi32>
  %is = arith.muli %ime, %ss : tensor<8x1xi32>
  %i4b = tt.broadcast %i4 : tensor<8x1xi32> -> tensor<8x4xi32>
  %isb = tt.broadcast %is : tensor<8x1xi32> -> tensor<8x4xi32>
  %jb = tt.broadcast %je : tensor<1x4xi32> -> tensor<8x4xi32>
  %j3b = tt.broadcast %j3e : tensor<1x4xi32> -> tensor<8x4xi32>
  %po = arith.addi %isb, %jb : tensor<8x4xi32>
  %qo = arith.addi %i4b, %j3b : tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %po : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %q0 = tt.addptr %ys, %qo : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %r:3 = scf.while (%k = %c0, %p = %p0, %q = %q0) : (i32, tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>) -> (i32, tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %p, %q : i32, tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>
  } do {
  ^bb0(%k: i32, %p: tensor<8x4x!tt.ptr<f32>>, %q: tensor<8x4x!tt.ptr<f32>>):
    %k1 = arith.addi %k, %c1 : i32
    scf.yield %k1, %q, %p : i32, tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>
  }
  %last = tt.load %r#1 : tensor<8x4x!tt.ptr<f32>>
  tt.return %last : tensor<8x4xf32>
}

// A condition chooses between two tensors whose bases and moduli differ.
// CHECK-LABEL: tt.func @chosen
// CHECK: scf.for {{.*}}, %[[LAST:.*]] = %c2305843009213693952_i64) -> (!tt.ptr<f32>, i64, i64, i64, i64)
// CHECK: %[[D:.*]] = arith.addi %{{.*}}, %{{.*}} overflow<nsw> : tensor<8xi64>
// CHECK: arith.remsi %[[D]]
// CHECK: %[[BASE:.*]] = arith.select %[[C:.*]], %{{.*}}, %{{.*}} : !tt.ptr<f32>
// CHECK: %[[MODULUS:.*]] = arith.select %[[C]], %{{.*}}, %[[LAST]] : i64
// CHECK: scf.yield %[[BASE]], %{{.*}}, %{{.*}}, %{{.*}}, %[[MODULUS]]
tt.func @chosen(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %m: i32, %at: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %w = arith.remsi %i, %ms : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %a = tt.addptr %xs, %w : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %b = tt.addptr %ys, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %b) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %is = arith.cmpi eq, %k, %at : i32
    %next = arith.select %is, %a, %p : tensor<8x!tt.ptr<f32>>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// One remainder along each dimension is carried. The sum of two becomes one offset for each element.
// CHECK-LABEL: tt.func @twice
// CHECK: scf.for {{.*}} -> (tensor<8xi64>, tensor<8xi64>)
tt.func @twice(%x: !tt.ptr<f32>, %n: i32, %m: i32, %l: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %ls = tt.splat %l : i32 -> tensor<8xi32>
  %w = arith.remsi %i, %ms : tensor<8xi32>
  %v = arith.remsi %i, %ls : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q0 = tt.addptr %xs, %w : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p0 = tt.addptr %q0, %v : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// The sum of remainders is not a remainder, so one offset for each row is carried.
// CHECK-LABEL: tt.func @rows
// CHECK: scf.for {{.*}} -> (tensor<8xi64>)
tt.func @rows(%x: !tt.ptr<f32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %im = arith.remsi %i, %ms : tensor<8xi32>
  %ie = tt.expand_dims %im {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %ib = tt.broadcast %ie : tensor<8x1xi32> -> tensor<8x4xi32>
  %jb = tt.broadcast %je : tensor<1x4xi32> -> tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %jb : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x4x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x4x!tt.ptr<f32>>
    %q = tt.addptr %p, %ib : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
    scf.yield %q : tensor<8x4x!tt.ptr<f32>>
  }
  tt.return
}
