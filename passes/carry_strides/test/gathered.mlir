// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// Rows at any indices: the loop carries the base, the stride along the other dimension and one offset for each row. The
// offsets are computed in 32 bits as before, and then extended.
// CHECK-LABEL: tt.func @tiles
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %[[A:.*]]: tensor<8xi32>, %[[B:.*]]: tensor<8xi32>, %[[S:.*]]: i32, %{{.*}}: i32)
// CHECK: %[[I:.*]] = tt.make_range
// CHECK: %[[AI:.*]] = arith.addi %[[A]], %[[I]] : tensor<8xi32>
// CHECK: %[[SS:.*]] = tt.splat %[[S]]
// CHECK: %[[AIS:.*]] = arith.muli %[[AI]], %[[SS]] : tensor<8xi32>
// CHECK-DAG: %[[P:.*]] = arith.extsi %[[AIS]] : tensor<8xi32> to tensor<8xi64>
// CHECK-DAG: %[[Q:.*]] = arith.extsi %[[B]] : tensor<8xi32> to tensor<8xi64>
// CHECK: scf.for {{.*}} iter_args(%[[XP:.*]] = %[[X]], %[[SP:.*]] = %c1_i64, %[[LP:.*]] = %[[P]], %[[XQ:.*]] = %[[Y]], %[[SQ:.*]] = %c3_i64, %[[LQ:.*]] = %[[Q]])
// CHECK: %[[BASE:.*]] = tt.splat %[[XP]]
// CHECK: %[[STRIDED:.*]] = tt.addptr %[[BASE]]
// CHECK: %[[E:.*]] = tt.expand_dims %[[LP]] {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
// CHECK: %[[W:.*]] = tt.broadcast %[[E]] : tensor<8x1xi64> -> tensor<8x4xi64>
// CHECK: %[[ALL:.*]] = tt.addptr %[[STRIDED]], %[[W]] : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi64>
// CHECK: tt.store %[[ALL]]
// CHECK: scf.yield %[[XQ]], %[[SQ]], %[[LQ]], %[[XP]], %[[SP]], %[[LP]]
tt.func @tiles(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %a: tensor<8xi32>, %b: tensor<8xi32>, %s: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %three = arith.constant dense<3> : tensor<1x4xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %j3 = arith.muli %je, %three : tensor<1x4xi32>
  %jb = tt.broadcast %je : tensor<1x4xi32> -> tensor<8x4xi32>
  %j3b = tt.broadcast %j3 : tensor<1x4xi32> -> tensor<8x4xi32>
  %ai = arith.addi %a, %i : tensor<8xi32>
  %ae = tt.expand_dims %ai {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ss = tt.splat %s : i32 -> tensor<8x1xi32>
  %as = arith.muli %ae, %ss : tensor<8x1xi32>
  %asb = tt.broadcast %as : tensor<8x1xi32> -> tensor<8x4xi32>
  %po = arith.addi %asb, %jb : tensor<8x4xi32>
  %be = tt.expand_dims %b {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %beb = tt.broadcast %be : tensor<8x1xi32> -> tensor<8x4xi32>
  %qo = arith.addi %beb, %j3b : tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %po : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %q0 = tt.addptr %ys, %qo : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x4x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>
  }
  tt.return
}

// A condition chooses between rows at any indices and a strided tile. The offsets of the latter, the multiples of its
// stride, are added to the chosen offsets.
// CHECK-LABEL: tt.func @chosen
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %[[A:.*]]: tensor<8xi32>
// CHECK: %[[L:.*]] = arith.extsi %[[A]]
// CHECK: scf.while ({{.*}} = %[[X]], {{.*}} = %[[L]])
// CHECK: ^bb0({{.*}}, %[[B:.*]]: !tt.ptr<f32>, %{{.*}}: i64, %{{.*}}: i64, %[[O:.*]]: tensor<8xi64>)
// CHECK: %[[C:.*]] = arith.cmpi eq
// CHECK: %[[STRIDE:.*]] = arith.extui %[[C]] : i1 to i64
// CHECK: %[[BASE:.*]] = arith.select %[[C]], %[[Y]], %[[B]] : !tt.ptr<f32>
// CHECK: %[[CS:.*]] = tt.splat %[[C]] : i1 -> tensor<8xi1>
// CHECK: %[[ANY:.*]] = arith.select %[[CS]], %cst, %[[O]] : tensor<8xi1>, tensor<8xi64>
// CHECK: %[[SS:.*]] = tt.splat %[[STRIDE]]
// CHECK: %[[MULTIPLES:.*]] = arith.muli %{{.*}}, %[[SS]] : tensor<8xi64>
// CHECK: %[[NEXT:.*]] = arith.addi %[[ANY]], %[[MULTIPLES]] : tensor<8xi64>
// CHECK: scf.yield %{{.*}}, %[[BASE]], %{{.*}}, %[[NEXT]]
tt.func @chosen(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %a: tensor<8xi32>, %n: i32) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ae = tt.expand_dims %a {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ab = tt.broadcast %ae : tensor<8x1xi32> -> tensor<8x4xi32>
  %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ib = tt.broadcast %ie : tensor<8x1xi32> -> tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %ab : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %q0 = tt.addptr %ys, %ib : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %r:2 = scf.while (%k = %c0, %p = %p0) : (i32, tensor<8x4x!tt.ptr<f32>>) -> (i32, tensor<8x4x!tt.ptr<f32>>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %p : i32, tensor<8x4x!tt.ptr<f32>>
  } do {
  ^bb0(%k: i32, %p: tensor<8x4x!tt.ptr<f32>>):
    %k1 = arith.addi %k, %c1 : i32
    %odd = arith.cmpi eq, %k, %c1 : i32
    %next = arith.select %odd, %q0, %p : tensor<8x4x!tt.ptr<f32>>
    scf.yield %k1, %next : i32, tensor<8x4x!tt.ptr<f32>>
  }
  %last = tt.load %r#1 : tensor<8x4x!tt.ptr<f32>>
  tt.return %last : tensor<8x4xf32>
}

// Each iteration loads indices of 16 bits, to which it adds others of 64 bits. The first dimension has no stride.
// CHECK-LABEL: tt.func @reloaded
// CHECK-SAME: %[[AT:[^,]*]]: tensor<8x!tt.ptr<i16>>, %[[FIRST:[^,]*]]: tensor<8xi64>
// CHECK: scf.for {{.*}} iter_args(%[[L:.*]] = %[[FIRST]]) -> (tensor<8xi64>)
// CHECK: tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
// CHECK: tt.expand_dims %[[L]]
// CHECK: %[[LOADED:.*]] = tt.load %[[AT]]
// CHECK: %[[WIDE:.*]] = arith.extsi %[[LOADED]] : tensor<8xi16> to tensor<8xi64>
// CHECK: %[[NEXT:.*]] = arith.addi %[[WIDE]], %[[FIRST]] : tensor<8xi64>
// CHECK: scf.yield %[[NEXT]] : tensor<8xi64>
tt.func @reloaded(%x: !tt.ptr<f32>, %at: tensor<8x!tt.ptr<i16>>, %first: tensor<8xi64>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<1x8x4xf32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %j1 = tt.expand_dims %j0 {axis = 0 : i32} : tensor<1x4xi32> -> tensor<1x1x4xi32>
  %jb = tt.broadcast %j1 : tensor<1x1x4xi32> -> tensor<1x8x4xi32>
  %f0 = tt.expand_dims %first {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
  %f1 = tt.expand_dims %f0 {axis = 2 : i32} : tensor<1x8xi64> -> tensor<1x8x1xi64>
  %fb = tt.broadcast %f1 : tensor<1x8x1xi64> -> tensor<1x8x4xi64>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1x8x4x!tt.ptr<f32>>
  %xj = tt.addptr %xs, %jb : tensor<1x8x4x!tt.ptr<f32>>, tensor<1x8x4xi32>
  %p0 = tt.addptr %xj, %fb : tensor<1x8x4x!tt.ptr<f32>>, tensor<1x8x4xi64>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<1x8x4x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<1x8x4x!tt.ptr<f32>>
    %l = tt.load %at : tensor<8x!tt.ptr<i16>>
    %l0 = tt.expand_dims %l {axis = 0 : i32} : tensor<8xi16> -> tensor<1x8xi16>
    %l1 = tt.expand_dims %l0 {axis = 2 : i32} : tensor<1x8xi16> -> tensor<1x8x1xi16>
    %lb = tt.broadcast %l1 : tensor<1x8x1xi16> -> tensor<1x8x4xi16>
    %xl = tt.addptr %xj, %lb : tensor<1x8x4x!tt.ptr<f32>>, tensor<1x8x4xi16>
    %q = tt.addptr %xl, %fb : tensor<1x8x4x!tt.ptr<f32>>, tensor<1x8x4xi64>
    scf.yield %q : tensor<1x8x4x!tt.ptr<f32>>
  }
  tt.return
}

// Pointers to the first elements of rows get columns and are transposed, and so is the sum of offsets that they are
// swapped with.
// CHECK-LABEL: tt.func @reshaped
// CHECK-SAME: %[[A:[^,]*]]: tensor<8xi32>, %[[B:[^,]*]]: tensor<8xi32>
// CHECK-DAG: %[[P:.*]] = arith.extsi %[[A]]
// CHECK-DAG: %[[Q:.*]] = arith.extsi %[[B]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c1_i64, %[[L:.*]] = %[[P]], %{{.*}} = %c2_i64, %{{.*}} = %[[Q]])
// CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<4xi64> -> tensor<4x1xi64>
// CHECK: tt.expand_dims %[[L]] {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
tt.func @reshaped(%x: !tt.ptr<f32>, %a: tensor<8xi32>, %b: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %jb = tt.broadcast %je : tensor<1x4xi32> -> tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p1 = tt.addptr %xs, %a : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p2 = tt.expand_dims %p1 {axis = 1 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<8x1x!tt.ptr<f32>>
  %p3 = tt.broadcast %p2 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
  %p4 = tt.addptr %p3, %jb : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %p0 = tt.trans %p4 {order = array<i32: 1, 0>} : tensor<8x4x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
  %xt = tt.splat %x : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
  %be = tt.expand_dims %b {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %bb = tt.broadcast %be : tensor<8x1xi32> -> tensor<8x4xi32>
  %two = arith.constant dense<2> : tensor<8x4xi32>
  %j2 = arith.muli %jb, %two : tensor<8x4xi32>
  %o = arith.addi %bb, %j2 : tensor<8x4xi32>
  %ot = tt.trans %o {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  %q0 = tt.addptr %xt, %ot : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<4x8x!tt.ptr<f32>>, tensor<4x8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<4x8x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<4x8x!tt.ptr<f32>>, tensor<4x8x!tt.ptr<f32>>
  }
  tt.return
}

// Only the second arm of a branch has rows at any indices, which it loads.
// CHECK-LABEL: tt.func @branch
// CHECK: %[[L:.*]] = scf.if %{{.*}} -> (tensor<8xi64>) {
// CHECK: %[[R:.*]] = arith.extsi %{{.*}} : tensor<8xi32> to tensor<8xi64>
// CHECK: scf.yield %[[R]]
// CHECK: } else {
// CHECK: %[[LOADED:.*]] = tt.load
// CHECK: %[[W:.*]] = arith.extsi %[[LOADED]] : tensor<8xi32> to tensor<8xi64>
// CHECK: scf.yield %[[W]]
// CHECK: tt.expand_dims %[[L]] {axis = 1 : i32}
tt.func @branch(%x: !tt.ptr<f32>, %at: tensor<8x!tt.ptr<i32>>, %c: i1) -> tensor<8x4xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %jb = tt.broadcast %je : tensor<1x4xi32> -> tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p = scf.if %c -> (tensor<8x4x!tt.ptr<f32>>) {
    %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %ib = tt.broadcast %ie : tensor<8x1xi32> -> tensor<8x4xi32>
    %q = tt.addptr %xs, %ib : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
    scf.yield %q : tensor<8x4x!tt.ptr<f32>>
  } else {
    %l = tt.load %at : tensor<8x!tt.ptr<i32>>
    %le = tt.expand_dims %l {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %lb = tt.broadcast %le : tensor<8x1xi32> -> tensor<8x4xi32>
    %o = arith.addi %lb, %jb : tensor<8x4xi32>
    %q = tt.addptr %xs, %o : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
    scf.yield %q : tensor<8x4x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x4x!tt.ptr<f32>>
  tt.return %v : tensor<8x4xf32>
}

// The base of one of the tensors is a pointer to another type of the same size.
// CHECK-LABEL: tt.func @two_types
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<i32>
// CHECK: scf.for {{.*}} iter_args(%[[B:.*]] = %[[X]], {{.*}}) -> (!tt.ptr<f32>, i64, tensor<8xi64>)
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[B]] : !tt.ptr<f32>
tt.func @two_types(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>, %a: tensor<8xi32>, %b: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %z = tt.bitcast %y : !tt.ptr<i32> -> !tt.ptr<f32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %a : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %q0 = tt.addptr %zs, %b : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %first = arith.cmpi eq, %k, %c0 : i32
    %next = arith.select %first, %q0, %p : tensor<8x!tt.ptr<f32>>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}
