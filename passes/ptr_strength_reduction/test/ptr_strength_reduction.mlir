// RUN: triton-ext-opt %s -ptr-strength-reduction -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func @scalar_first
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[O:.*]]: tensor<8xi32>, %[[S:.*]]: i64)
// CHECK-NEXT: %[[Q:.*]] = tt.addptr %[[P]], %[[S]] : !tt.ptr<f32>, i64
// CHECK-NEXT: %[[B:.*]] = tt.splat %[[Q]]
// CHECK-NEXT: %[[R:.*]] = tt.addptr %[[B]], %[[O]] : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK-NEXT: tt.return %[[R]]
tt.func @scalar_first(%p: !tt.ptr<f32>, %o: tensor<8xi32>, %s: i64) -> tensor<8x!tt.ptr<f32>> {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %1 = tt.addptr %0, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %2 = tt.splat %s : i64 -> tensor<8xi64>
  %3 = tt.addptr %1, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  tt.return %3 : tensor<8x!tt.ptr<f32>>
}

// -----

// The loop carries an i64, even if the added integer is narrower.
// CHECK-LABEL: tt.func @carried_pointers
// CHECK-SAME: (%[[P0:.*]]: tensor<8x!tt.ptr<f32>>, %[[N:.*]]: i32, %[[S:.*]]: i32)
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: %[[L:.*]] = scf.for %{{.*}} iter_args(%[[OFF:.*]] = %[[ZERO]]) -> (i64)
// CHECK: %[[OS:.*]] = tt.splat %[[OFF]] : i64 -> tensor<8xi64>
// CHECK: %[[P:.*]] = tt.addptr %[[P0]], %[[OS]]
// CHECK: tt.load %[[P]]
// CHECK: %[[S64:.*]] = arith.extsi %[[S]] : i32 to i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[OFF]], %[[S64]] : i64
// CHECK: scf.yield %[[NEXT]] : i64
// CHECK: %[[LS:.*]] = tt.splat %[[L]]
// CHECK: %[[R:.*]] = tt.addptr %[[P0]], %[[LS]]
// CHECK: tt.return %[[R]]
tt.func @carried_pointers(%p0: tensor<8x!tt.ptr<f32>>, %n: i32, %s: i32) -> tensor<8x!tt.ptr<f32>> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %splat = tt.splat %s : i32 -> tensor<8xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %splat : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  tt.return %r : tensor<8x!tt.ptr<f32>>
}

// -----

// An offset that differs between lanes is carried as a tensor, and that of a scalar pointer as a scalar, in order.
// CHECK-LABEL: tt.func @different_amounts
// CHECK: scf.for %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[X:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (tensor<8xi64>, f32, i64)
tt.func @different_amounts(%p0: tensor<8x!tt.ptr<f32>>, %q0: !tt.ptr<f32>, %n: i32, %s: tensor<8xi64>, %x0: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %x = %x0, %q = %q0) -> (tensor<8x!tt.ptr<f32>>, f32, !tt.ptr<f32>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    %y = tt.load %q : !tt.ptr<f32>
    %z = arith.addf %x, %y : f32
    %p1 = tt.addptr %p, %s : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
    %q1 = tt.addptr %q, %c1 : !tt.ptr<f32>, i32
    scf.yield %p1, %z, %q1 : tensor<8x!tt.ptr<f32>>, f32, !tt.ptr<f32>
  }
  tt.return %r#1 : f32
}

// -----

// Carried integers keep their type, so that the sum wraps as before.
// CHECK-LABEL: tt.func @carried_offsets
// CHECK-SAME: (%[[P0:.*]]: !tt.ptr<f32>, %[[O0:.*]]: tensor<8xi32>
// CHECK: scf.for %{{.*}} iter_args(%[[OFF:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[OS:.*]] = tt.splat %[[OFF]] : i32 -> tensor<8xi32>
// CHECK: arith.addi %[[O0]], %[[OS]]
tt.func @carried_offsets(%p0: !tt.ptr<f32>, %o0: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<16> : tensor<8xi32>
  %ps = tt.splat %p0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %o0) -> (tensor<8xi32>) : i32 {
    %p = tt.addptr %ps, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    %next = arith.addi %step, %o : tensor<8xi32>
    scf.yield %next : tensor<8xi32>
  }
  tt.return
}

// -----

// Pointers that the loop does not advance, and tensors that are not offsets, stay.
// CHECK-LABEL: tt.func @left_alone
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<8x!tt.ptr<f32>>, tensor<8xf32>)
tt.func @left_alone(%p0: tensor<8x!tt.ptr<f32>>, %p1: tensor<8x!tt.ptr<f32>>, %n: i32, %x0: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %x = %x0) -> (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    %y = arith.addf %x, %v : tensor<8xf32>
    scf.yield %p1, %y : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  }
  tt.return %r#1 : tensor<8xf32>
}

// -----

// The loop may add an argument of its body: its induction variable, or a carried value.
// CHECK-LABEL: tt.func @adds_induction_variable
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[OFF:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[OFF]], %[[I64]] : i64
// CHECK: scf.yield %[[NEXT]]
tt.func @adds_induction_variable(%p0: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> (!tt.ptr<f32>) : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    tt.store %p, %v : !tt.ptr<f32>
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    scf.yield %q : !tt.ptr<f32>
  }
  tt.return
}

// -----

// The loop adds the argument before the pointer, the one after it, and the first one again.
// CHECK-LABEL: tt.func @adds_carried_scalars
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[OFF:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (i32, i64, i64)
// CHECK: %[[A64:.*]] = arith.extsi %[[A]] : i32 to i64
// CHECK: %[[ONE:.*]] = arith.addi %[[OFF]], %[[A64]] : i64
// CHECK: %[[TWO:.*]] = arith.addi %[[ONE]], %[[B]] : i64
// CHECK: %[[AGAIN:.*]] = arith.extsi %[[A]] : i32 to i64
// CHECK: %[[THREE:.*]] = arith.addi %[[TWO]], %[[AGAIN]] : i64
// CHECK: scf.yield %{{.*}}, %[[THREE]], %{{.*}} : i32, i64, i64
tt.func @adds_carried_scalars(%p0: !tt.ptr<f32>, %n: i32, %a0: i32, %b0: i64) -> !tt.ptr<f32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %p = %p0, %b = %b0) -> (i32, !tt.ptr<f32>, i64) : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    tt.store %p, %v : !tt.ptr<f32>
    %p1 = tt.addptr %p, %a : !tt.ptr<f32>, i32
    %p2 = tt.addptr %p1, %b : !tt.ptr<f32>, i64
    %p3 = tt.addptr %p2, %a : !tt.ptr<f32>, i32
    %a1 = arith.muli %a, %i : i32
    %b1 = arith.muli %b, %b : i64
    scf.yield %a1, %p3, %b1 : i32, !tt.ptr<f32>, i64
  }
  tt.return %r#1 : !tt.ptr<f32>
}

// -----

// The added tensor is also carried, and is itself replaced by its start and a scalar.
// CHECK-LABEL: tt.func @adds_carried_tensor
// CHECK-SAME: (%{{.*}}: tensor<8x!tt.ptr<f32>>, %{{.*}}: i32, %[[O0:.*]]: tensor<8xi32>)
// CHECK: scf.for {{.*}} iter_args(%[[OFF:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}) -> (tensor<8xi64>, i32)
// CHECK: %[[OS:.*]] = tt.splat %[[O]] : i32 -> tensor<8xi32>
// CHECK: %[[OFFSETS:.*]] = arith.addi %[[O0]], %[[OS]] : tensor<8xi32>
// CHECK: %[[WIDE:.*]] = arith.extsi %[[OFFSETS]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[NEXT:.*]] = arith.addi %[[OFF]], %[[WIDE]] : tensor<8xi64>
// CHECK: %[[O1:.*]] = arith.addi %[[O]], %{{.*}} : i32
// CHECK: scf.yield %[[NEXT]], %[[O1]] : tensor<8xi64>, i32
tt.func @adds_carried_tensor(%p0: tensor<8x!tt.ptr<f32>>, %n: i32, %o0: tensor<8xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<4> : tensor<8xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %o = %o0) -> (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    %p1 = tt.addptr %p, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %o1 = arith.addi %o, %step : tensor<8xi32>
    scf.yield %p1, %o1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  }
  tt.return
}

// -----

// The inner loop adds a value that the outer loop carries, and that is rewritten first.
// CHECK-LABEL: tt.func @adds_outer_argument
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[OUTER:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) -> (i64, i32)
// CHECK: scf.for %[[J:.*]] = %{{.*}} iter_args(%[[INNER:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[K64:.*]] = arith.extsi %[[K]] : i32 to i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[INNER]], %[[K64]] : i64
// CHECK: %[[J64:.*]] = arith.extsi %[[J]] : i32 to i64
// CHECK: %[[LAST:.*]] = arith.addi %[[NEXT]], %[[J64]] : i64
// CHECK: scf.yield %[[LAST]] : i64
// CHECK: %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK: arith.addi %[[OUTER]], %[[I64]] : i64
tt.func @adds_outer_argument(%p0: !tt.ptr<f32>, %n: i32, %k0: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %k = %k0) -> (!tt.ptr<f32>, i32) : i32 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%q = %p) -> (!tt.ptr<f32>) : i32 {
      %v = tt.load %q : !tt.ptr<f32>
      tt.store %q, %v : !tt.ptr<f32>
      %q1 = tt.addptr %q, %k : !tt.ptr<f32>, i32
      %q2 = tt.addptr %q1, %j : !tt.ptr<f32>, i32
      scf.yield %q2 : !tt.ptr<f32>
    }
    %p1 = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %k1 = arith.muli %k, %k : i32
    scf.yield %p1, %k1 : !tt.ptr<f32>, i32
  }
  tt.return
}
