// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=arith" | FileCheck %s

// The divisor may be 0. Where it is, the division is by 1: a program that divides by 0 ends on some processors.
// CHECK-LABEL: tt.func public @division
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tt.ptr<i32>, %[[A:[a-z0-9]+]]: i32, %[[B:[a-z0-9]+]]: i32
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[B]], %c0
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %c1{{.*}}, %[[B]]
// CHECK: arith.divsi %[[A]], %[[SAFE]]
// CHECK: \22fault\22:\22the least integer divided by -1\22
// CHECK: scf.if %[[ZERO]] {
// CHECK: probe.check %{{.*}}, "arith"(%{{.*}}, %[[A]], %[[B]] : i64, i32, i32)
// CHECK-SAME: \22fault\22:\22division by zero\22
tt.func public @division(%p: !tt.ptr<i32>, %a: i32, %b: i32) {
  %q = arith.divsi %a, %b : i32
  tt.store %p, %q : !tt.ptr<i32>
  tt.return
}

// The divisor is 3; the divisor is at least 1; the quotient is replaced where the divisor is 0.
// CHECK-LABEL: tt.func public @proved
// CHECK-NOT: probe.check
// CHECK: tt.return
tt.func public @proved(%p: !tt.ptr<i32>, %a: i32, %b: i32) {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %q = arith.divsi %a, %three : i32
  tt.store %p, %q : !tt.ptr<i32>
  %c = arith.maxsi %b, %one : i32
  %r = arith.remsi %a, %c : i32
  tt.store %p, %r : !tt.ptr<i32>
  %s = arith.divui %a, %b : i32
  %is = arith.cmpi eq, %b, %zero : i32
  %t = arith.select %is, %a, %s : i32
  tt.store %p, %t : !tt.ptr<i32>
  tt.return
}

// Only lanes that the store has on are reported.
// CHECK-LABEL: tt.func public @masked
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<16xi1>
// CHECK: %[[PAST:.*]] = arith.cmpi uge, %{{.*}}, %cst
// CHECK: arith.shli
// CHECK: arith.andi %[[PAST]], %[[M]]
// CHECK: probe.check
// CHECK-SAME: \22fault\22:\22shift past the width\22
tt.func public @masked(%p: tensor<16x!tt.ptr<i32>>, %a: tensor<16xi32>, %b: tensor<16xi32>, %m: tensor<16xi1>) {
  %v = arith.shli %a, %b : tensor<16xi32>
  tt.store %p, %v, %m : tensor<16x!tt.ptr<i32>>
  tt.return
}

// The bounds of int8 are open; -129 and 128 are floats. Of int32, the float below -2^31 is less than -2^31 - 1.
// CHECK-LABEL: tt.func public @conversions
// CHECK: arith.cmpf ogt, %{{.*}}, %[[LOW:.*]] : f32
// CHECK: probe.check
// CHECK: arith.constant -2.14748365E+9 : f32
// CHECK: arith.cmpf oge
// CHECK: arith.constant 2.14748365E+9 : f32
// CHECK: arith.cmpf olt
tt.func public @conversions(%p: !tt.ptr<i8>, %q: !tt.ptr<i32>, %a: f32) {
  %v = arith.fptosi %a : f32 to i8
  tt.store %p, %v : !tt.ptr<i8>
  %w = arith.fptosi %a : f32 to i32
  tt.store %q, %w : !tt.ptr<i32>
  tt.return
}

// The kernel's product keeps its only use, beside it, and the sum, too: a second computation is checked.
// CHECK-LABEL: tt.func public @fused
// CHECK-SAME: %[[A:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32, %[[C:[a-z0-9]+]]: f32
// CHECK: probe.launch_word 7
// CHECK: %[[MUL:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[MUL]], %[[C]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.mulf
// CHECK-NEXT: %[[CHECKED:.*]] = arith.addf %[[SECOND]]
// CHECK-NOT: %[[SUM]]
// CHECK: probe.check %{{.*}}, "arith"({{.*}}, %[[CHECKED]] : i64, f32, f32, f32, f32)
// CHECK-NOT: probe.check
// CHECK: tt.store %{{.*}}, %[[SUM]]
// CHECK: tt.return
tt.func public @fused(%p: !tt.ptr<f32>, %a: f32, %b: f32, %c: f32) {
  %v = arith.mulf %a, %b : f32
  %w = arith.addf %v, %c : f32
  tt.store %p, %w : !tt.ptr<f32>
  tt.return
}

// A maximum makes no infinity, and an infinity that is a constant is nobody's fault.
// CHECK-LABEL: tt.func public @chosen
// CHECK-NOT: probe.check
// CHECK: tt.return
tt.func public @chosen(%p: !tt.ptr<f32>, %a: tensor<16xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %most = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %m = arith.maxnumf %x, %y : f32
    tt.reduce.return %m : f32
  }) : (tensor<16xf32>) -> f32
  %v = arith.subf %low, %most : f32
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}
