// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics -triton-ext-loop-split="no-wrap=true" -Rpass=. | FileCheck %s
// RUN: triton-ext-opt %s -split-input-file -triton-ext-loop-split | FileCheck %s --check-prefix=EXACT

// 0 <= first < end holds for program ids and tiles, so both loops are as by hand.
// CHECK-LABEL: tt.func public @causal(
// CHECK:       %[[FIRST:.*]] = arith.muli %{{.*}}, %c128_i32
// CHECK:       %[[END:.*]] = arith.addi %[[FIRST]], %c128_i32
// CHECK-NEXT:  scf.for %[[I:.*]] = %c0_i32 to %[[FIRST]] step %c64_i32
// CHECK-NEXT:    tt.store %{{.*}}, %c0_i32
// CHECK-NEXT:  }
// CHECK-NEXT:  scf.for %[[J:.*]] = %[[FIRST]] to %[[END]] step %c64_i32
// CHECK-NEXT:    tt.store %{{.*}}, %[[J]]
// CHECK-NOT:   speculated
// CHECK:       tt.return
// Without the option, the bounds must be right for every value.
// EXACT-LABEL: tt.func public @causal(
// EXACT:         %[[MIDDLE:.*]] = arith.addi
// EXACT:         scf.for %{{.*}} = %c0_i32 to %{{.*}} step
// EXACT:         scf.for %{{.*}} to %{{.*}} step
tt.func public @causal(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %programs = tt.get_num_programs x : i32
  %last = arith.subi %programs, %c1 : i32
  %program = tt.get_program_id x : i32
  %turned = arith.subi %last, %program : i32
  %first = arith.muli %turned, %c128 : i32
  %end = arith.addi %first, %c128 : i32
  scf.for %i = %c0 to %end step %c64 : i32 {
    // expected-remark@below {{split: in the first loop this is false, in the second true}}
    %late = arith.cmpi sge, %i, %first : i32
    %value = arith.select %late, %i, %c0 : i32
    tt.store %p, %value : !tt.ptr<i32>
  }
  tt.return
}

// -----

// A program id may exceed the number of programs along another axis.
// CHECK-LABEL: tt.func public @other_axis(
// CHECK:       %[[FIRST:.*]] = arith.muli %{{.*}}, %c128_i32
// CHECK:       %[[MIDDLE:.*]] = arith.maxsi %[[FIRST]], %c0_i32
// CHECK-NEXT:  scf.for %{{.*}} = %c0_i32 to %[[MIDDLE]] step
// CHECK:       scf.for %{{.*}} = %[[MIDDLE]] to
tt.func public @other_axis(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %programs = tt.get_num_programs y : i32
  %last = arith.subi %programs, %c1 : i32
  %program = tt.get_program_id x : i32
  %turned = arith.subi %last, %program : i32
  %first = arith.muli %turned, %c128 : i32
  %end = arith.addi %first, %c128 : i32
  scf.for %i = %c0 to %end step %c64 : i32 {
    // expected-remark@below {{split}}
    %late = arith.cmpi sge, %i, %first : i32
    %value = arith.select %late, %i, %c0 : i32
    tt.store %p, %value : !tt.ptr<i32>
  }
  tt.return
}

// -----

// A window: the lower mask is true from a bound that is rounded up and clamped to
// the range; the upper mask is true up to a bound that is a multiple of the step.
// CHECK-LABEL: tt.func public @window(
// CHECK-SAME:    %[[WIDTH:[^,:]*]]: i32
// CHECK:       %[[FIRST:.*]] = arith.muli %{{.*}}, %c4_i32
// CHECK:       %[[END:.*]] = arith.addi %[[FIRST]], %c4_i32
// CHECK:       %[[SUM:.*]] = arith.subi %[[FIRST]], %[[WIDTH]]
// CHECK:       %[[IN:.*]] = arith.addi %[[SUM]], %c4_i32
// CHECK:       %[[LESS:.*]] = arith.minsi %[[IN]], %[[END]]
// CHECK:       %[[MORE:.*]] = arith.maxsi %[[LESS]], %c0_i32
// CHECK:       %[[UP:.*]] = arith.addi %[[MORE]], %c3_i32
// CHECK:       %[[INSIDE:.*]] = arith.andi %[[UP]], %c-4_i32
// CHECK:       scf.for %{{.*}} = %c0_i32 to %[[INSIDE]] step
// CHECK:         arith.andi
// CHECK:       %[[BEYOND:.*]] = arith.maxsi %[[FIRST]], %[[INSIDE]]
// CHECK:       scf.for %{{.*}} = %[[INSIDE]] to %[[BEYOND]] step
// CHECK-NOT:     arith.cmpi
// CHECK:       scf.for %{{.*}} = %[[BEYOND]] to %[[END]] step
// CHECK:         arith.cmpi sle
// CHECK-NOT:     arith.cmpi
// CHECK:       tt.return
tt.func public @window(%width: i32, %p: tensor<4x4x!tt.ptr<i32>>, %v: tensor<4x4xi32>) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %program = tt.get_program_id x : i32
  %first = arith.muli %program, %c4 : i32
  %end = arith.addi %first, %c4 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %firsts = tt.splat %first : i32 -> tensor<4xi32>
  %row = arith.addi %firsts, %lanes : tensor<4xi32>
  %widths = tt.splat %width : i32 -> tensor<4xi32>
  %oldest = arith.subi %row, %widths : tensor<4xi32>
  %rows1 = tt.expand_dims %row {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %rows = tt.broadcast %rows1 : tensor<4x1xi32> -> tensor<4x4xi32>
  %oldests1 = tt.expand_dims %oldest {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %oldests = tt.broadcast %oldests1 : tensor<4x1xi32> -> tensor<4x4xi32>
  scf.for %i = %c0 to %end step %c4 : i32 {
    %at = tt.splat %i : i32 -> tensor<4xi32>
    %column = arith.addi %at, %lanes : tensor<4xi32>
    %columns1 = tt.expand_dims %column {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %columns = tt.broadcast %columns1 : tensor<1x4xi32> -> tensor<4x4xi32>
    // expected-remark@below {{split: in the first loop this is true, in the second any}}
    %past = arith.cmpi sle, %columns, %rows : tensor<4x4xi32>
    // expected-remark@below {{split: in the first loop this is any, in the second true}}
    %recent = arith.cmpi sgt, %columns, %oldests : tensor<4x4xi32>
    %mask = arith.andi %past, %recent : tensor<4x4xi1>
    tt.store %p, %v, %mask : tensor<4x4x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// A value that only a branch of the body computes may wrap when the branch is not
// taken, so no fact follows from it.
// CHECK-LABEL: tt.func public @speculated(
// CHECK:       %[[SUM:.*]] = arith.addi %[[START:.*]], %c64_i32
// CHECK:       %[[LESS:.*]] = arith.minsi %[[SUM]], %{{.*}}
// CHECK:       %[[MORE:.*]] = arith.maxsi %[[LESS]], %[[START]]
// CHECK:       scf.for %{{.*}} = %[[START]] to %[[MORE]] step
tt.func public @speculated(%p: !tt.ptr<i32>, %n: i32, %b: i1) {
  %c64 = arith.constant 64 : i32
  %program = tt.get_program_id x : i32
  %start = arith.muli %program, %c64 : i32
  %end = arith.muli %n, %c64 : i32
  scf.for %i = %start to %end step %c64 : i32 {
    scf.if %b {
      %limit = arith.addi %start, %c64 : i32
      // expected-remark@below {{split}}
      %early = arith.cmpi slt, %i, %limit : i32
      %value = arith.select %early, %i, %n : i32
      tt.store %p, %value : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// Bounds about which nothing is known, and unsigned comparisons, are split as
// without the option.
// CHECK-LABEL: tt.func public @ragged(
// CHECK:       arith.divui
// CHECK:       scf.for
// CHECK:       scf.for
tt.func public @ragged(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    // expected-remark@below {{split}}
    %early = arith.cmpi slt, %i, %m : i32
    %value = arith.select %early, %i, %n : i32
    tt.store %p, %value : !tt.ptr<i32>
  }
  tt.return
}
