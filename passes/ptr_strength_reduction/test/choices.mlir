// RUN: triton-ext-opt %s -ptr-strength-reduction -canonicalize -split-input-file | FileCheck %s

// The branch returns the amounts, of which it computes one. Lines of pointers at any offsets stay as they are.
// CHECK-LABEL: tt.func @branch
// CHECK-SAME: (%[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[C:.*]]: i1, %[[S:.*]]: !tt.ptr<i32>, %[[T:[a-z0-9]+]]: i64,
// CHECK: %[[O:.*]] = scf.if %[[C]] -> (i64) {
// CHECK:   %[[L:.*]] = tt.load %[[S]]
// CHECK:   %[[W:.*]] = arith.extsi %[[L]] : i32 to i64
// CHECK:   %[[SUM:.*]] = arith.addi %[[T]], %[[W]] : i64
// CHECK:   scf.yield %[[SUM]] : i64
// CHECK: } else {
// CHECK:   tt.store
// CHECK:   scf.yield %c0_i64 : i64
// CHECK: %[[OS:.*]] = tt.splat %[[O]] : i64 -> tensor<8xi64>
// CHECK: %[[R:.*]] = tt.addptr %[[P]], %[[OS]]
// CHECK: tt.return %[[R]]
tt.func @branch(%p: tensor<8x!tt.ptr<f32>>, %c: i1, %s: !tt.ptr<i32>, %t: i64, %x: !tt.ptr<f32>, %v: f32) -> tensor<8x!tt.ptr<f32>> {
  %r = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %l = tt.load %s : !tt.ptr<i32>
    %0 = tt.splat %l : i32 -> tensor<8xi32>
    %1 = tt.addptr %p, %0 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %2 = tt.splat %t : i64 -> tensor<8xi64>
    %3 = tt.addptr %1, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
    tt.store %x, %v : !tt.ptr<f32>
    scf.yield %3 : tensor<8x!tt.ptr<f32>>
  } else {
    tt.store %x, %v : !tt.ptr<f32>
    scf.yield %p : tensor<8x!tt.ptr<f32>>
  }
  tt.return %r : tensor<8x!tt.ptr<f32>>
}

// -----

// A select by one bit. The splat of a constant and a sum of integers, of whose operands either may be the splat.
// CHECK-LABEL: tt.func @select
// CHECK-SAME: (%[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[C:.*]]: i1, %[[S:.*]]: i64, %[[I:.*]]: tensor<8xi32>, %[[N:.*]]: i32)
// CHECK-DAG: %[[O:.*]] = arith.select %[[C]], %[[S]], %c3_i64 : i64
// CHECK-DAG: %[[OS:.*]] = tt.splat %[[O]]
// CHECK-DAG: tt.addptr %[[P]], %[[OS]]
// CHECK-DAG: %[[K:.*]] = arith.select %[[C]], %[[N]], %c0_i32 : i32
// CHECK-DAG: %[[KS:.*]] = tt.splat %[[K]]
// CHECK-DAG: arith.addi %[[I]], %[[KS]]
tt.func @select(%p: tensor<8x!tt.ptr<f32>>, %c: i1, %s: i64, %i: tensor<8xi32>, %n: i32) -> (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) {
  %0 = tt.splat %s : i64 -> tensor<8xi64>
  %1 = tt.addptr %p, %0 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %three = arith.constant dense<3> : tensor<8xi32>
  %2 = tt.addptr %p, %three : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %3 = arith.select %c, %1, %2 : tensor<8x!tt.ptr<f32>>
  %4 = tt.splat %n : i32 -> tensor<8xi32>
  %5 = arith.addi %4, %i : tensor<8xi32>
  %6 = arith.select %c, %5, %i : tensor<8xi32>
  tt.return %3, %6 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
}

// -----

// A loop that advances its pointers in a branch carries an offset.
// CHECK-LABEL: tt.func @loop
// CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %c0_i64) -> (i64)
// CHECK:   %[[STEP:.*]] = arith.select %{{.*}}, %{{.*}}, %c0_i64 : i64
// CHECK:   %[[NEXT:.*]] = arith.addi %[[O]], %[[STEP]] : i64
// CHECK:   scf.yield %[[NEXT]]
tt.func @loop(%p: tensor<8x!tt.ptr<f32>>, %n: i32, %s: i64, %x: !tt.ptr<f32>, %v: f32, %w: tensor<8xf32>) -> tensor<8x!tt.ptr<f32>> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %c = arith.cmpi eq, %i, %c1 : i32
    tt.store %q, %w : tensor<8x!tt.ptr<f32>>
    %m = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
      tt.store %x, %v : !tt.ptr<f32>
      %0 = tt.splat %s : i64 -> tensor<8xi64>
      %1 = tt.addptr %q, %0 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
      scf.yield %1 : tensor<8x!tt.ptr<f32>>
    } else {
      scf.yield %q : tensor<8x!tt.ptr<f32>>
    }
    scf.yield %m : tensor<8x!tt.ptr<f32>>
  }
  tt.return %r : tensor<8x!tt.ptr<f32>>
}

// -----

// Sums of two tensors, a tensor that a branch computes, amounts that differ from element to element, and a choice for
// each element stay.
// CHECK-LABEL: tt.func @negative
// CHECK: arith.select {{.*}}tensor<8x!tt.ptr<f32>>
// CHECK: scf.if %{{.*}} -> (tensor<8xi32>)
// CHECK-COUNT-2: arith.select {{.*}}tensor<8x!tt.ptr<f32>>
tt.func @negative(%p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f32>>, %c: i1, %s: i64, %x: !tt.ptr<i32>, %o: tensor<8xi64>, %cs: tensor<8xi1>)
    -> (tensor<8x!tt.ptr<f32>>, tensor<8xi32>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) {
  %0 = tt.splat %s : i64 -> tensor<8xi64>
  %1 = tt.addptr %p, %0 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %r:2 = scf.if %c -> (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) {
    %2 = tt.load %xs : tensor<8x!tt.ptr<i32>>
    scf.yield %1, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  } else {
    %3 = tt.load %xs : tensor<8x!tt.ptr<i32>>
    scf.yield %q, %3 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  }
  %4 = tt.addptr %p, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %5 = arith.select %c, %4, %p : tensor<8x!tt.ptr<f32>>
  %6 = arith.select %cs, %1, %p : tensor<8xi1>, tensor<8x!tt.ptr<f32>>
  tt.return %r#0, %r#1, %5, %6 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
}
