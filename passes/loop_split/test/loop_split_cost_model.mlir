// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics -triton-ext-loop-split="num-warps=4 threads-per-warp=32" -Rpass=. -Rpass-missed=. | FileCheck %s --check-prefixes=CHECK,MODEL
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split="num-warps=4 threads-per-warp=32" -o %t
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split="num-warps=4 threads-per-warp=32" -triton-ext-loop-split="num-warps=4 threads-per-warp=32" | diff %t -
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split="cost-model=false" | FileCheck %s --check-prefixes=CHECK,ALWAYS
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split="threads-per-warp=1" | FileCheck %s --check-prefixes=CHECK,ALWAYS
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split="num-warps=4 threads-per-warp=32 max-registers=255 max-refills=2 split-trips=1" | FileCheck %s --check-prefixes=CHECK,LARGER

// The bound is a multiple of 8, so the mask is the same for the 8 elements of one
// access of 16 bytes: it is a predicate.
// CHECK-LABEL: tt.func public @wide(
// CHECK:       scf.for
// MODEL-NOT:   scf.for
// ALWAYS:      scf.for
// LARGER-NOT:  scf.for
// CHECK:       tt.return
tt.func public @wide(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x32xf16>, %n: i32 {tt.divisibility = 8 : i32}) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x32xf16>
  %init = arith.constant dense<0.0> : tensor<32x32xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %init) -> (tensor<32x32xf32>) : i32 {
    %at = tt.splat %i : i32 -> tensor<32xi32>
    %k = arith.addi %at, %lanes : tensor<32xi32>
    %end = tt.splat %n : i32 -> tensor<32xi32>
    // expected-remark@below {{not split: its masks are predicates of accesses that are as wide as without them}}
    %inside = arith.cmpi slt, %k, %end : tensor<32xi32>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %offsets = tt.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
    %mask1 = tt.expand_dims %inside {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
    %mask = tt.broadcast %mask1 : tensor<1x32xi1> -> tensor<32x32xi1>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %ptr = tt.addptr %base, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %x = tt.load %ptr, %mask, %zeros : tensor<32x32x!tt.ptr<f16>>
    %y = tt.dot %x, %b, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %y : tensor<32x32xf32>
  }
  tt.return %r : tensor<32x32xf32>
}

// -----

// Nothing divides the bound, so that the mask keeps neighbours in accesses of their
// own.
// CHECK-LABEL: tt.func public @narrow(
// CHECK:       scf.for
// CHECK:         tt.load %{{[^ ,]*}} : tensor
// CHECK:       scf.for
// CHECK:         tt.load %{{[^ ,]*}}, %
// CHECK:       tt.return
tt.func public @narrow(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x32xf16>, %n: i32) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x32xf16>
  %init = arith.constant dense<0.0> : tensor<32x32xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %init) -> (tensor<32x32xf32>) : i32 {
    %at = tt.splat %i : i32 -> tensor<32xi32>
    %k = arith.addi %at, %lanes : tensor<32xi32>
    %end = tt.splat %n : i32 -> tensor<32xi32>
    // expected-remark@below {{split: in the first loop this is true, in the second any}}
    %inside = arith.cmpi slt, %k, %end : tensor<32xi32>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %offsets = tt.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
    %mask1 = tt.expand_dims %inside {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
    %mask = tt.broadcast %mask1 : tensor<1x32xi1> -> tensor<32x32xi1>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %ptr = tt.addptr %base, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %x = tt.load %ptr, %mask, %zeros : tensor<32x32x!tt.ptr<f16>>
    %y = tt.dot %x, %b, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %y : tensor<32x32xf32>
  }
  tt.return %r : tensor<32x32xf32>
}

// -----

// A loop without a product is not pipelined, unless its attribute says so.
// CHECK-LABEL: tt.func public @plain(
// CHECK-COUNT-2: scf.for
// CHECK:       tt.return
tt.func public @plain(%p: tensor<4x!tt.ptr<i32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
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

// CHECK-LABEL: tt.func public @attribute(
// CHECK:       scf.for
// MODEL-NOT:   scf.for
// ALWAYS:      scf.for
// LARGER-NOT:  scf.for
// CHECK:       tt.return
tt.func public @attribute(%p: tensor<4x!tt.ptr<i32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    // expected-remark@below {{not split: its masks are predicates}}
    %mask = arith.cmpi slt, %column, %end : tensor<4xi32>
    tt.store %p, %lanes, %mask : tensor<4x!tt.ptr<i32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// What a masked load reads instead takes a select, unless it is zero.
// CHECK-LABEL: tt.func public @other(
// CHECK-COUNT-2: scf.for
// CHECK:       tt.return
tt.func public @other(%p: tensor<4x!tt.ptr<f32>>, %q: tensor<4x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %ones = arith.constant dense<1.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %end = tt.splat %n : i32 -> tensor<4xi32>
    // expected-remark@below {{split}}
    %mask = arith.cmpi slt, %column, %end : tensor<4xi32>
    %x = tt.load %p, %mask, %ones : tensor<4x!tt.ptr<f32>>
    tt.store %q, %x : tensor<4x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// One mask of a select takes one further loop, two take two.
// CHECK-LABEL: tt.func public @one(
// CHECK-COUNT-2: scf.for
// CHECK:       tt.return
tt.func public @one(%p: tensor<4x!tt.ptr<f32>>, %n: i32, %hi: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %last = tt.splat %hi : i32 -> tensor<4xi32>
    // expected-remark@below {{split}}
    %below = arith.cmpi sle, %column, %last : tensor<4xi32>
    %x = tt.load %p : tensor<4x!tt.ptr<f32>>
    %y = arith.select %below, %x, %zero : tensor<4xi1>, tensor<4xf32>
    tt.store %p, %y : tensor<4x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @window(
// CHECK:       scf.for
// MODEL:         scf.if
// MODEL-NOT:   scf.for
// ALWAYS:      scf.for
// ALWAYS:      scf.for
// LARGER:      scf.for
// LARGER:      scf.for
// CHECK:       tt.return
tt.func public @window(%p: tensor<4x!tt.ptr<f32>>, %n: i32, %lo: i32, %hi: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  // expected-remark@below {{masks moved into a branch, because the pipeline would begin anew 2 times, more than max-refills=1}}
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
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// Between the first and the last element of a window of 10 elements lie 4 places
// for a block of 4: one iteration, wherever it begins. It stays as it is.
// CHECK-LABEL: tt.func public @short_window(
// CHECK:       scf.for
// MODEL-NOT:   scf.{{for|if}}
// CHECK:       tt.return
tt.func public @short_window(%p: tensor<4x!tt.ptr<f32>>, %n: i32, %hi: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c10 = arith.constant dense<10> : tensor<4xi32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %last = tt.splat %hi : i32 -> tensor<4xi32>
    %first = arith.subi %last, %c10 : tensor<4xi32>
    // expected-remark@below {{not split: another pipeline takes longer than what disappears from 1 iterations, less than guard-trips=2}}
    %above = arith.cmpi sgt, %column, %first : tensor<4xi32>
    // expected-remark@below {{not split: another pipeline takes longer than what disappears from 1 iterations, less than guard-trips=2}}
    %below = arith.cmpi sle, %column, %last : tensor<4xi32>
    %mask = arith.andi %above, %below : tensor<4xi1>
    %x = tt.load %p : tensor<4x!tt.ptr<f32>>
    %y = arith.select %mask, %x, %zero : tensor<4xi1>, tensor<4xf32>
    tt.store %p, %y : tensor<4x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// Seven iterations at most are too few to split, and enough for a branch.
// CHECK-LABEL: tt.func public @seven(
// CHECK:       scf.for
// MODEL:         scf.if
// MODEL-NOT:   scf.for
// ALWAYS:      scf.for
// LARGER:      scf.for
// CHECK:       tt.return
tt.func public @seven(%p: tensor<4x!tt.ptr<f32>>, %hi: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c28 = arith.constant 28 : i32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  // expected-remark@below {{masks moved into a branch, because another pipeline takes longer than what disappears from 7 iterations, less than split-trips=8}}
  scf.for %i = %c0 to %c28 step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %last = tt.splat %hi : i32 -> tensor<4xi32>
    %below = arith.cmpi sle, %column, %last : tensor<4xi32>
    %x = tt.load %p : tensor<4x!tt.ptr<f32>>
    %y = arith.select %below, %x, %zero : tensor<4xi1>, tensor<4xf32>
    tt.store %p, %y : tensor<4x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// 128 registers of a thread for the accumulator and 64 for another tile are too
// many. A branch stays.
// CHECK-LABEL: tt.func public @registers(
// CHECK:       scf.for
// MODEL-NOT:   scf.for
// ALWAYS:      scf.for
// LARGER:      scf.for
// CHECK:       tt.return
tt.func public @registers(%a: tensor<128x64xf32>, %b: tensor<64x128xf32>, %n: i32, %m: i32) -> tensor<128x128xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    // expected-remark@below {{not split: tiles take 192 registers of a thread, more than max-registers=160}}
    %late = arith.cmpi sge, %i, %m : i32
    %x = arith.addf %a, %a : tensor<128x64xf32>
    %y = scf.if %late -> (tensor<128x64xf32>) {
      %z = arith.mulf %x, %x : tensor<128x64xf32>
      scf.yield %z : tensor<128x64xf32>
    } else {
      scf.yield %x : tensor<128x64xf32>
    }
    %d = tt.dot %y, %b, %acc : tensor<128x64xf32> * tensor<64x128xf32> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tt.return %r : tensor<128x128xf32>
}

// -----

// Where the loop is split for one mask, another one that changes there goes with it.
// CHECK-LABEL: tt.func public @together(
// CHECK:       scf.for
// CHECK-NOT:     arith.cmpi
// CHECK:         tt.dot
// CHECK:       scf.for
// CHECK:       tt.return
tt.func public @together(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: tensor<32x32x!tt.ptr<f16>>, %n: i32) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x32xf16>
  %init = arith.constant dense<0.0> : tensor<32x32xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %init) -> (tensor<32x32xf32>) : i32 {
    %at = tt.splat %i : i32 -> tensor<32xi32>
    %k = arith.addi %at, %lanes : tensor<32xi32>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %column = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %end1 = tt.splat %n : i32 -> tensor<1x32xi32>
    %end2 = tt.splat %n : i32 -> tensor<32x1xi32>
    // expected-remark@below {{split}}
    %inside1 = arith.cmpi slt, %row, %end1 : tensor<1x32xi32>
    // expected-remark@below {{split}}
    %inside2 = arith.cmpi slt, %column, %end2 : tensor<32x1xi32>
    %offsets = tt.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
    %mask1 = tt.broadcast %inside1 : tensor<1x32xi1> -> tensor<32x32xi1>
    %mask2 = tt.broadcast %inside2 : tensor<32x1xi1> -> tensor<32x32xi1>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %ptr = tt.addptr %base, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %x = tt.load %ptr, %mask1, %zeros : tensor<32x32x!tt.ptr<f16>>
    %z = tt.load %q, %mask2, %zeros : tensor<32x32x!tt.ptr<f16>>
    %y = tt.dot %x, %z, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %y : tensor<32x32xf32>
  }
  tt.return %r : tensor<32x32xf32>
}

// -----

// One mask compares a sum, the other one the sum in 64 bits: both have %i as a term,
// with coefficients of different widths. How far apart the masks change is not known.
// CHECK-LABEL: tt.func public @widths(
// CHECK:       scf.for
// MODEL:         scf.if
// MODEL-NOT:   scf.for
// ALWAYS:      scf.for
// ALWAYS:      scf.for
// LARGER:      scf.for
// LARGER:      scf.for
// CHECK:       tt.return
tt.func public @widths(%p: tensor<4x!tt.ptr<f32>>, %lo: i64, %hi: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c400 = arith.constant 400 : i32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  // expected-remark@below {{masks moved into a branch, because the pipeline would begin anew 2 times, more than max-refills=1}}
  scf.for %i = %c0 to %c400 step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %wide = arith.extsi %column : tensor<4xi32> to tensor<4xi64>
    %first = tt.splat %lo : i64 -> tensor<4xi64>
    %last = tt.splat %hi : i32 -> tensor<4xi32>
    %above = arith.cmpi sgt, %wide, %first : tensor<4xi64>
    %below = arith.cmpi sle, %column, %last : tensor<4xi32>
    %mask = arith.andi %above, %below : tensor<4xi1>
    %x = tt.load %p : tensor<4x!tt.ptr<f32>>
    %y = arith.select %mask, %x, %zero : tensor<4xi1>, tensor<4xf32>
    tt.store %p, %y : tensor<4x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// %wide does not wrap because %end does not, which its flag says. To count the
// iterations of %below drops the flag in a copy of the loop; %late stays affine.
// CHECK-LABEL: tt.func public @flags(
// CHECK:       scf.for
// MODEL:         scf.if
// MODEL-NOT:   scf.for
// ALWAYS:      scf.for
// ALWAYS:      scf.for
// CHECK:       tt.return
tt.func public @flags(%p: tensor<4x!tt.ptr<f32>>, %n: i32, %x: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c400 = arith.constant 400 : i32
  %c6 = arith.constant dense<6> : tensor<4xi32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %half = arith.shrui %n, %c1 : i32
  // expected-remark@below {{masks moved into a branch}}
  scf.for %i = %c0 to %c400 step %c4 : i32 {
    %end = arith.addi %half, %half overflow<nsw> : i32
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %last = tt.splat %end : i32 -> tensor<4xi32>
    %below = arith.cmpi sle, %column, %last : tensor<4xi32>
    // expected-remark@below {{not split: another pipeline takes longer than what disappears from 1 iterations}}
    %early = arith.cmpi sle, %column, %c6 : tensor<4xi32>
    %left = arith.subi %i, %end : i32
    %wide = arith.extsi %left : i32 to i64
    // expected-remark@below {{not split: the pipeline would begin anew 3 times}}
    %late = arith.cmpi sge, %wide, %x : i64
    %v = tt.load %p : tensor<4x!tt.ptr<f32>>
    %y = arith.select %below, %v, %zero : tensor<4xi1>, tensor<4xf32>
    %z = arith.select %early, %zero, %y : tensor<4xi1>, tensor<4xf32>
    %w = arith.select %late, %z, %v : tensor<4xf32>
    tt.store %p, %w : tensor<4x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}
