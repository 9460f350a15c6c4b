// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=lanes" -canonicalize -cse | FileCheck %s

// CHECK: sanitize.verdicts = "[
// CHECK-SAME: \22verdict\22:\22proved\22

// The mask of the store is that of the load and one more condition, in another shape.
// CHECK-LABEL: tt.func public @proved
// CHECK-NOT: probe.check
// CHECK: tt.return
tt.func public @proved(%p: tensor<16x!tt.ptr<f32>>, %q: tensor<16x16x!tt.ptr<f32>>, %n: tensor<16xi32>, %more: tensor<16x16xi1>) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %in = arith.cmpi slt, %i, %n : tensor<16xi32>
  %v = tt.load %p, %in : tensor<16x!tt.ptr<f32>>
  %row = tt.expand_dims %v {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>
  %all = tt.broadcast %row : tensor<1x16xf32> -> tensor<16x16xf32>
  %i1 = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %n1 = tt.expand_dims %n {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %in1 = arith.cmpi sgt, %n1, %i1 : tensor<1x16xi32>
  %mask = tt.broadcast %in1 : tensor<1x16xi1> -> tensor<16x16xi1>
  %both = arith.andi %mask, %more : tensor<16x16xi1>
  tt.store %q, %all, %both : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// A lane with i < 9 has i < 12; one with i < 13 may not have.
// CHECK-LABEL: tt.func public @limits
// CHECK: tt.store
// CHECK-NOT: probe.check
// CHECK: scf.if
// CHECK: probe.check
// CHECK: tt.store
// CHECK: tt.return
tt.func public @limits(%p: tensor<16x!tt.ptr<f32>>, %x: tensor<16xi32>) {
  %nine = arith.constant dense<9> : tensor<16xi32>
  %twelve = arith.constant dense<12> : tensor<16xi32>
  %thirteen = arith.constant dense<13> : tensor<16xi32>
  %m = arith.cmpi slt, %x, %twelve : tensor<16xi32>
  %fewer = arith.cmpi slt, %x, %nine : tensor<16xi32>
  %more = arith.cmpi slt, %x, %thirteen : tensor<16xi32>
  %v = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v, %fewer : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v, %more : tensor<16x!tt.ptr<f32>>
  tt.return
}

// Of a mask with two conditions only the one is followed that the store lacks:
// the sum keeps its rows, so that the taint is one bit.
// CHECK-LABEL: tt.func public @columns
// CHECK-SAME: %[[ROWS:[a-z0-9]+]]: tensor<16x1xi1>, %[[COLUMNS:[a-z0-9]+]]: tensor<1x16xi1>
// CHECK: tt.load
// CHECK: %[[OFF:.*]] = arith.xori %[[COLUMNS]]
// CHECK-NOT: arith.xori %[[ROWS]]
// CHECK: "tt.reduce"
// CHECK: %[[ANY:.*]] = arith.cmpi ne
// CHECK: scf.if %[[ANY]] {
// CHECK: probe.check %{{.*}}, "lanes"(%{{.*}} : i64)
// CHECK-SAME: \22sink\22:\22store\22
// CHECK-SAME: \22through\22:\22reduce\22
tt.func public @columns(%rows: tensor<16x1xi1>, %columns: tensor<1x16xi1>, %p: tensor<16x16x!tt.ptr<f32>>, %q: tensor<16x!tt.ptr<f32>>) {
  %r = tt.broadcast %rows : tensor<16x1xi1> -> tensor<16x16xi1>
  %c = tt.broadcast %columns : tensor<1x16xi1> -> tensor<16x16xi1>
  %m = arith.andi %r, %c : tensor<16x16xi1>
  %v = tt.load %p, %m : tensor<16x16x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tt.reduce.return %sum : f32
  }) : (tensor<16x16xf32>) -> tensor<16xf32>
  %on = tt.reshape %rows : tensor<16x1xi1> -> tensor<16xi1>
  tt.store %q, %s, %on : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A loop carries the taint of its accumulator, and a branch that of its result.
// CHECK-LABEL: tt.func public @carried
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}}, %[[BEFORE:.*]] = %{{.*}}) -> (tensor<16xf32>, tensor<16xi1>)
// CHECK: %[[OFF:.*]] = arith.xori
// CHECK: %[[IF:.*]]:2 = scf.if {{.*}} -> (tensor<16xf32>, tensor<16xi1>)
// CHECK: arith.ori %[[BEFORE]], %[[OFF]]
// CHECK: scf.yield %[[IF]]#0, %[[IF]]#1
// CHECK: scf.if
// CHECK: arith.xori %[[LOOP]]#1
// CHECK: probe.check
tt.func public @carried(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>, %n: i32, %c: i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = arith.constant dense<0.0> : tensor<16xf32>
  %r = scf.for %k = %zero to %n step %one iter_args(%acc = %start) -> (tensor<16xf32>) : i32 {
    %v = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
    %next = scf.if %c -> (tensor<16xf32>) {
      %sum = arith.addf %acc, %v : tensor<16xf32>
      scf.yield %sum : tensor<16xf32>
    } else {
      scf.yield %acc : tensor<16xf32>
    }
    scf.yield %next : tensor<16xf32>
  }
  tt.store %p, %r : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A value that is replaced where the mask is off; a mask with the load's.
// CHECK-LABEL: tt.func public @replaced
// CHECK-NOT: probe.check
// CHECK: tt.return
tt.func public @replaced(%p: tensor<16x!tt.ptr<f32>>, %q: tensor<16x!tt.ptr<i32>>, %m: tensor<16xi1>) {
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %none = arith.constant dense<0> : tensor<16xi32>
  %v = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  %w = arith.select %m, %v, %zero : tensor<16xi1>, tensor<16xf32>
  tt.store %p, %w : tensor<16x!tt.ptr<f32>>
  %k = tt.load %q, %m : tensor<16x!tt.ptr<i32>>
  %is = arith.cmpi sgt, %k, %none : tensor<16xi32>
  %on = arith.andi %is, %m : tensor<16xi1>
  tt.store %p, %zero, %on : tensor<16x!tt.ptr<f32>>
  tt.return
}

// What is not followed is not reported.
// CHECK-LABEL: tt.func public @unknown
// CHECK-NOT: probe.check
// CHECK: tt.return
tt.func public @unknown(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>, %q: tensor<32x!tt.ptr<f32>>) {
  %v = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  %w = tt.cat %v, %v : tensor<16xf32> -> tensor<32xf32>
  tt.store %q, %w : tensor<32x!tt.ptr<f32>>
  tt.return
}
