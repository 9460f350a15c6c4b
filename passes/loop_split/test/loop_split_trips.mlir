// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics -triton-ext-loop-split="min-trips=8" -Rpass=. -Rpass-missed=. | FileCheck %s

// Whether 8 iterations need no mask is known only at run time. If there are fewer,
// the second loop does all iterations.
// CHECK-LABEL: tt.func public @unknown(
// CHECK:       %[[ENOUGH:.*]] = arith.cmpi uge, %[[COUNT:.*]], %c8_i32
// CHECK-NEXT:  %[[FREE:.*]] = arith.select %[[ENOUGH]], %[[COUNT]], %c0_i32
// CHECK:       scf.for
// CHECK-NEXT:    tt.store %{{[^ ,]*}}, %{{[^ ,]*}} : tensor
// CHECK:       scf.for
// CHECK:         tt.store %{{[^ ,]*}}, %{{[^ ,]*}}, %
tt.func public @unknown(%p: tensor<4x!tt.ptr<i32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    // expected-remark@below {{split: in the first loop this is true, in the second any}}
    %mask = arith.cmpi slt, %column, %end : tensor<4xi32>
    tt.store %p, %lanes, %mask : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// Seven iterations are too few, and eight are enough.
// CHECK-LABEL: tt.func public @seven(
// CHECK:       scf.for
// CHECK-NOT:   scf.for
tt.func public @seven(%p: tensor<4x!tt.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %n = arith.constant 31 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    // expected-remark@below {{not split: it would be known in less than min-trips=8 iterations}}
    %mask = arith.cmpi slt, %column, %end : tensor<4xi32>
    tt.store %p, %lanes, %mask : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @eight(
// CHECK:       scf.for
// CHECK:       scf.for
tt.func public @eight(%p: tensor<4x!tt.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %n = arith.constant 35 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    // expected-remark@below {{split}}
    %mask = arith.cmpi slt, %column, %end : tensor<4xi32>
    tt.store %p, %lanes, %mask : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// A mask that is used only in a branch does not make the pass split again: a causal
// attention has two loops, not three.
// CHECK-LABEL: tt.func public @causal(
// CHECK:       scf.for
// CHECK-NOT:     arith.select
// CHECK:       scf.for
// CHECK:         arith.select
// CHECK-NOT:   scf.for
tt.func public @causal(%p: tensor<4x!tt.ptr<i32>>, %n: i32, %first: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0> : tensor<4xi32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %x = tt.load %p : tensor<4x!tt.ptr<i32>>
    // expected-remark@below {{split: in the first loop this is false, in the second true}}
    %late = arith.cmpi sge, %i, %first : i32
    %y = scf.if %late -> (tensor<4xi32>) {
      %at = tt.splat %i : i32 -> tensor<4xi32>
      %column = arith.addi %at, %lanes : tensor<4xi32>
      %last = tt.splat %first : i32 -> tensor<4xi32>
      %mask = arith.cmpi sle, %column, %last : tensor<4xi32>
      %z = arith.select %mask, %x, %zero : tensor<4xi1>, tensor<4xi32>
      scf.yield %z : tensor<4xi32>
    } else {
      scf.yield %x : tensor<4xi32>
    }
    tt.store %p, %y : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// The number of iterations is a constant that is too small.
// CHECK-LABEL: tt.func public @few(
// CHECK:       scf.for
// CHECK-NOT:   scf.for
tt.func public @few(%p: tensor<4x!tt.ptr<i32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %c8 step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    // expected-remark@below {{not split: it would be known in less than min-trips=}}
    %mask = arith.cmpi slt, %column, %end : tensor<4xi32>
    tt.store %p, %lanes, %mask : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}
