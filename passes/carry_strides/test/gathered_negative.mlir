// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// One tile has rows at any indices and the other one has columns, or both: they stay.
// CHECK-LABEL: tt.func @crossed
// CHECK: scf.for {{.*}} -> (tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>)
// CHECK: scf.for {{.*}} -> (tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>)
tt.func @crossed(%x: !tt.ptr<f32>, %a: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %e0 = tt.expand_dims %a {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %e1 = tt.expand_dims %a {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %b0 = tt.broadcast %e0 : tensor<1x8xi32> -> tensor<8x8xi32>
  %b1 = tt.broadcast %e1 : tensor<8x1xi32> -> tensor<8x8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %b0 : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %q0 = tt.addptr %xs, %b1 : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %s0 = tt.addptr %p0, %b1 : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x8x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>
  }
  %t:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %s = %s0) -> (tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x8x!tt.ptr<f32>>
    scf.yield %s, %p : tensor<8x8x!tt.ptr<f32>>, tensor<8x8x!tt.ptr<f32>>
  }
  tt.return
}

// The only element of a tensor, repeated, is not a line of offsets.
// CHECK-LABEL: tt.func @one
// CHECK: scf.for {{.*}} -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>)
tt.func @one(%x: !tt.ptr<f32>, %a: tensor<1xi32>, %b: tensor<1xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1x!tt.ptr<f32>>
  %xa = tt.addptr %xs, %a : tensor<1x!tt.ptr<f32>>, tensor<1xi32>
  %xb = tt.addptr %xs, %b : tensor<1x!tt.ptr<f32>>, tensor<1xi32>
  %p0 = tt.broadcast %xa : tensor<1x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f32>>
  %q0 = tt.broadcast %xb : tensor<1x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f32>>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// A sum of 16 bits may wrap, so it is not taken apart.
// CHECK-LABEL: tt.func @narrow
// CHECK: scf.for {{.*}} -> (tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>)
tt.func @narrow(%x: !tt.ptr<f32>, %a: tensor<8xi16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %ae = tt.expand_dims %a {axis = 1 : i32} : tensor<8xi16> -> tensor<8x1xi16>
  %ab = tt.broadcast %ae : tensor<8x1xi16> -> tensor<8x4xi16>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %jn = arith.trunci %j : tensor<4xi32> to tensor<4xi16>
  %je = tt.expand_dims %jn {axis = 0 : i32} : tensor<4xi16> -> tensor<1x4xi16>
  %jb = tt.broadcast %je : tensor<1x4xi16> -> tensor<8x4xi16>
  %o = arith.addi %ab, %jb : tensor<8x4xi16>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %ab : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi16>
  %q0 = tt.addptr %xs, %o : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi16>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x4x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>
  }
  tt.return
}

// An offset of one of the tensors counts elements of another size.
// CHECK-LABEL: tt.func @two_sizes
// CHECK: scf.for {{.*}} -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>)
tt.func @two_sizes(%x: !tt.ptr<f32>, %y: !tt.ptr<f64>, %a: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f64> -> tensor<8x!tt.ptr<f64>>
  %p0 = tt.addptr %xs, %a : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %ya = tt.addptr %ys, %a : tensor<8x!tt.ptr<f64>>, tensor<8xi32>
  %q0 = tt.bitcast %ya : tensor<8x!tt.ptr<f64>> -> tensor<8x!tt.ptr<f32>>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    scf.yield %q, %p : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// What an arm loads cannot be used behind the branch, whose other arm makes pointers from integers.
// CHECK-LABEL: tt.func @in_an_arm
// CHECK: scf.for {{.*}} -> (tensor<8x!tt.ptr<f32>>)
// CHECK-LABEL: tt.func @sum_in_an_arm
// CHECK: scf.for {{.*}} -> (tensor<4x8x!tt.ptr<f32>>)
tt.func @in_an_arm(%x: !tt.ptr<f32>, %at: tensor<8x!tt.ptr<i32>>, %any: tensor<8xi64>, %c: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant dense<8> : tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %l = tt.load %at : tensor<8x!tt.ptr<i32>>
    %s = tt.addptr %xs, %l : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %s : tensor<8x!tt.ptr<f32>>
  } else {
    %s = tt.int_to_ptr %any : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
    scf.yield %s : tensor<8x!tt.ptr<f32>>
  }
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %c8 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}
tt.func @sum_in_an_arm(%x: !tt.ptr<f32>, %at: tensor<8x!tt.ptr<i32>>, %any: tensor<4x8xi64>, %c: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant dense<8> : tensor<4x8xi32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %je = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %jb = tt.broadcast %je : tensor<1x4xi32> -> tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
  %p0 = scf.if %c -> (tensor<4x8x!tt.ptr<f32>>) {
    %l = tt.load %at : tensor<8x!tt.ptr<i32>>
    %le = tt.expand_dims %l {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %lb = tt.broadcast %le : tensor<8x1xi32> -> tensor<8x4xi32>
    %o = arith.addi %lb, %jb : tensor<8x4xi32>
    %t = tt.trans %o {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
    %s = tt.addptr %xs, %t : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    scf.yield %s : tensor<4x8x!tt.ptr<f32>>
  } else {
    %s = tt.int_to_ptr %any : tensor<4x8xi64> -> tensor<4x8x!tt.ptr<f32>>
    scf.yield %s : tensor<4x8x!tt.ptr<f32>>
  }
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<4x8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %one : tensor<4x8x!tt.ptr<f32>>
    %q = tt.addptr %p, %c8 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    scf.yield %q : tensor<4x8x!tt.ptr<f32>>
  }
  tt.return
}
