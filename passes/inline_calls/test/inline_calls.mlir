// RUN: triton-ext-opt %s -wrap-func-body-with-single-block -inline-calls -split-input-file | FileCheck %s

// A call in a loop, whose body must have a single block.
// CHECK-LABEL: tt.func public @in_loop
// CHECK: scf.for
// CHECK-NOT: tt.call
// CHECK: %[[R:.*]] = scf.execute_region -> i32
// CHECK: cf.cond_br
// CHECK: arith.addi %{{.*}}, %[[R]]
// CHECK: scf.yield
tt.func private @early(%c: i1, %x: i32) -> i32 attributes {noinline = false} {
  cf.cond_br %c, ^out, ^in
^out:
  tt.return %x : i32
^in:
  %0 = arith.muli %x, %x : i32
  tt.return %0 : i32
}
tt.func public @in_loop(%n: i32, %c: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %v = tt.call @early(%c, %i) : (i1, i32) -> i32
    %b = arith.addi %a, %v : i32
    scf.yield %b : i32
  }
  tt.return %r : i32
}

// -----

// The inlined operations are not simplified, and a call of a noinline function stays.
// CHECK-LABEL: tt.func public @as_it_is
// CHECK: %[[A:.*]] = arith.constant 1 : i32
// CHECK: %[[B:.*]] = arith.addi %[[A]], %[[A]]
// CHECK: tt.call @kept(%[[B]])
tt.func private @folds() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %0, %0 : i32
  tt.return %1 : i32
}
tt.func private @kept(%x: i32) attributes {noinline = true} {
  tt.return
}
tt.func public @as_it_is() {
  %0 = tt.call @folds() : () -> i32
  tt.call @kept(%0) : (i32) -> ()
  tt.return
}
