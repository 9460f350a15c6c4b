// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split="guard=true" | FileCheck %s
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split="guard=true" -triton-ext-loop-split="guard=true" | FileCheck %s

// Two masks of a window: one loop, with a select only where the masks are not true
// for all lanes. Operations that only the masks use move into the branch.
// CHECK-LABEL: tt.func public @window(
// CHECK-SAME:  %[[P:[^:]*]]: tensor
// CHECK:       scf.for %[[I:[^ ]*]] = %c0_i32
// CHECK-NEXT:    %[[LAST:.*]] = arith.cmpi slt, %[[I]],
// CHECK-NEXT:    %[[FIRST:.*]] = arith.cmpi sge, %[[I]],
// CHECK-NOT:     tensor<4xi1>
// CHECK:         %[[X:.*]] = tt.load
// CHECK-NEXT:    %[[FREE:.*]] = arith.andi %[[FIRST]], %[[LAST]] : i1
// CHECK-NEXT:    %[[Y:.*]] = scf.if %[[FREE]]
// CHECK-NEXT:      scf.yield %[[X]]
// CHECK-NEXT:    } else {
// CHECK:           arith.cmpi sgt
// CHECK:           arith.cmpi sle
// CHECK:           arith.select
// CHECK:         tt.store %[[P]], %[[Y]]
// CHECK-NEXT:  } {triton_ext.split}
// CHECK-NEXT:  tt.return
tt.func public @window(%p: tensor<4x!tt.ptr<f32>>, %n: i32, %lo: i32, %hi: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %first = tt.splat %lo : i32 -> tensor<4xi32>
    %last = tt.splat %hi : i32 -> tensor<4xi32>
    %above = arith.cmpi sgt, %column, %first : tensor<4xi32>
    %below = arith.cmpi sle, %column, %last : tensor<4xi32>
    %mask = arith.andi %above, %below : tensor<4xi1>
    %x = tt.load %p : tensor<4x!tt.ptr<f32>>
    %y = arith.select %mask, %x, %zero : tensor<4xi1>, tensor<4xf32>
    tt.store %p, %y : tensor<4x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// The mask of a load is split off as without the option; that of a select is not.
// CHECK-LABEL: tt.func public @both(
// CHECK:       scf.for
// CHECK:         tt.load %{{[^ ,]*}} : tensor
// CHECK:         scf.if
// CHECK:       scf.for
// CHECK:         tt.load %{{[^ ,]*}}, %
// CHECK:         scf.if
// CHECK-NOT:   scf.for
tt.func public @both(%p: tensor<4x!tt.ptr<f32>>, %n: i32, %hi: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    %last = tt.splat %hi : i32 -> tensor<4xi32>
    %inside = arith.cmpi slt, %column, %end : tensor<4xi32>
    %below = arith.cmpi sle, %column, %last : tensor<4xi32>
    %x = tt.load %p, %inside : tensor<4x!tt.ptr<f32>>
    %y = arith.select %below, %x, %zero : tensor<4xi1>, tensor<4xf32>
    tt.store %p, %y : tensor<4x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// A scalar condition is not a mask.
// CHECK-LABEL: tt.func public @scalar(
// CHECK:       scf.for
// CHECK-NOT:   scf.if
// CHECK:       scf.for
// CHECK-NOT:   scf.if
// CHECK:       tt.return
tt.func public @scalar(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %early = arith.cmpi slt, %i, %m : i32
    %x = arith.select %early, %i, %c0 : i32
    tt.store %p, %x : !tt.ptr<i32>
  }
  tt.return
}
