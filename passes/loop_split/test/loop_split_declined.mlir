// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics -triton-ext-loop-split -Rpass=. -Rpass-missed=. -Rpass-analysis=. | FileCheck %s
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split 2>&1 | FileCheck %s --check-prefix=QUIET

// QUIET-NOT: remark
// QUIET-NOT: warning

// CHECK-NOT: triton_ext
// CHECK-LABEL: tt.func public @nothing_depends
// CHECK-NOT: triton_ext
tt.func public @nothing_depends(%p: !tt.ptr<i8>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %cond = arith.cmpi slt, %i, %m : i32 // no reason to split: no remark
    %bit = arith.extui %cond : i1 to i8
    tt.store %p, %bit : !tt.ptr<i8>
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @both_change
// CHECK-NOT: triton_ext
tt.func public @both_change(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = arith.subi %m, %i : i32
    // expected-remark@below {{not split: both operands change in the loop}}
    %cond = arith.cmpi slt, %i, %x : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @not_affine
// CHECK-NOT: triton_ext
tt.func public @not_affine(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = arith.muli %i, %i : i32
    // expected-remark@below {{it is not an affine function of the induction variable}}
    %cond = arith.cmpi slt, %x, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// A value that may have wrapped is extended, so it is not an affine expression.
// CHECK-LABEL: tt.func public @wraps_then_extends
// CHECK-NOT: triton_ext
tt.func public @wraps_then_extends(%p: !tt.ptr<i32>, %n: i32, %m: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = arith.addi %i, %c1 : i32
    %z = arith.addi %y, %c1 : i32
    %x = arith.extsi %z : i32 to i64
    // expected-remark@below {{may wrap before it is extended}}
    %cond = arith.cmpi slt, %x, %m : i64
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// Nothing depends on the comparison, so the remark is one of analysis, not a missed one.
// CHECK-LABEL: tt.func public @not_affine_nothing_depends
// CHECK-NOT: triton_ext
tt.func public @not_affine_nothing_depends(%p: !tt.ptr<i8>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = arith.muli %i, %i : i32
    // expected-remark@below {{it is not an affine function of the induction variable, or one that may wrap before it is extended; no branch, select or mask depends on it [-Rpass-analysis=triton-ext-loop-split]}}
    %cond = arith.cmpi slt, %x, %m : i32
    %bit = arith.extui %cond : i1 to i8
    tt.store %p, %bit : !tt.ptr<i8>
  }
  tt.return
}

// -----

// The loop loads the bound.
// CHECK-LABEL: tt.func public @loaded
// CHECK-NOT: triton_ext
tt.func public @loaded(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %m = tt.load %p : !tt.ptr<i32>
    // expected-remark@below {{both operands change in the loop}}
    %cond = arith.cmpi slt, %i, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @while
// CHECK-NOT: triton_ext
tt.func public @while(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %cond = arith.cmpi slt, %i, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

// max-splits=2 allows no third split, so one of the loops keeps the branch.
// CHECK-LABEL: tt.func public @max_splits
// CHECK:     scf.for
// CHECK:     scf.for
// CHECK:     scf.for
// CHECK-NOT: scf.for
tt.func public @max_splits(%p: !tt.ptr<i32>, %n: i32, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-remark@below {{split: in the first loop this is true, in the second false}}
    %first = arith.cmpi slt, %i, %a : i32
    scf.if %first {
      tt.store %p, %c0 : !tt.ptr<i32>
    }
    // expected-remark@below {{split: in the first loop this is true, in the second false}}
    // expected-remark@below {{not split: max-splits=2 is reached}}
    %second = arith.cmpi slt, %i, %b : i32
    scf.if %second {
      tt.store %p, %c1 : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @step_of_zero
// CHECK-NOT: triton_ext
tt.func public @step_of_zero(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  scf.for %i = %n to %c0 step %c0 : i32 {
    %cond = arith.cmpi slt, %i, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// Even if the comparison is known, the branch depends on a loaded value.
// CHECK-LABEL: tt.func public @exclusive_or
// CHECK-NOT: triton_ext
tt.func public @exclusive_or(%p: !tt.ptr<i32>, %q: !tt.ptr<i1>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %loaded = tt.load %q : !tt.ptr<i1>
    %early = arith.cmpi slt, %i, %m : i32
    %cond = arith.xori %early, %loaded : i1
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// A split would remove no operation.
// CHECK-LABEL: tt.func public @no_work
// CHECK-NOT: triton_ext
tt.func public @no_work(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %early = arith.cmpi slt, %i, %m : i32
    scf.if %early {
    }
    %same = arith.select %early, %n, %n : i32
    %unused = arith.select %early, %n, %m : i32
    tt.store %p, %same : !tt.ptr<i32>
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @dynamic_shape
// CHECK-NOT: triton_ext
tt.func public @dynamic_shape(%n: i32, %m: i32, %x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xi32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<?xi32>
    %ms = tt.splat %m : i32 -> tensor<?xi32>
    // expected-remark@below {{not split: an operand is not a sum of scalars, ranges and constants}}
    %early = arith.cmpi slt, %is, %ms : tensor<?xi32>
    %z = arith.select %early, %a, %y : tensor<?xi1>, tensor<?xi32>
    scf.yield %z : tensor<?xi32>
  }
  tt.return %r : tensor<?xi32>
}

// -----

// The lanes may wrap before they are extended. With a step of 4 they would not: the
// largest multiple of 4 leaves room for 3 more.
// CHECK-LABEL: tt.func public @mask_wraps_then_extends
// CHECK-NOT: triton_ext
tt.func public @mask_wraps_then_extends(%p: tensor<4x!tt.ptr<i32>>, %m: i32, %n: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %range = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %ns = tt.splat %n : i64 -> tensor<4xi64>
  scf.for %i = %c0 to %m step %c1 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %lanes = arith.addi %at, %range : tensor<4xi32>
    %wide = arith.extsi %lanes : tensor<4xi32> to tensor<4xi64>
    // expected-remark@below {{or one that may wrap before it is extended}}
    %mask = arith.cmpi slt, %wide, %ns : tensor<4xi64>
    tt.store %p, %lanes, %mask : tensor<4x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// The remarks for a comparison in the inner loop come from that loop alone.
// CHECK-LABEL: tt.func public @inner
tt.func public @inner(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      // expected-remark@below {{split: in the first loop this is true, in the second false}}
      %early = arith.cmpi slt, %j, %m : i32
      scf.if %early {
        tt.store %p, %j : !tt.ptr<i32>
      }
    }
  }
  tt.return
}
