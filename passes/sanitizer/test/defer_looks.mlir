// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s

// Nested loops and a branch: one bit runs through all of them. The look is behind the outermost loop, and the slice has
// the trip counts and the condition, but neither the load, nor the sum, nor the store behind the loops, whose own look
// comes later.
// CHECK-LABEL: tt.func public @nested
// CHECK-SAME: %[[X:.*]]: !tt.ptr<f32>, %[[OUT:.*]]: !tt.ptr<f32>, %[[M:.*]]: i32, %[[N:.*]]: i32
// CHECK: %[[OUTER:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%{{.*}}, %[[F0:.*]] = %false) -> (tensor<64xf32>, i1)
// CHECK: %[[INNER:.*]]:2 = scf.for %[[J:.*]] = {{.*}} iter_args(%{{.*}}, %[[F1:.*]] = %[[F0]]) -> (tensor<64xf32>, i1)
// CHECK: %[[BRANCH:.*]]:2 = scf.if %{{.*}} -> (tensor<64xf32>, i1) {
// CHECK: tt.load
// CHECK-NOT: scf.if
// CHECK: %[[F2:.*]] = arith.ori %[[F1]], %{{.*}} : i1
// CHECK: scf.yield %{{.*}}, %[[F2]] : tensor<64xf32>, i1
// CHECK: } else {
// CHECK: scf.yield %{{.*}}, %[[F1]] : tensor<64xf32>, i1
// CHECK: scf.yield %[[BRANCH]]#0, %[[BRANCH]]#1
// CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1
// CHECK: tt.store
// CHECK: scf.if %[[OUTER]]#1 {
// CHECK-NEXT: scf.for %[[K:.*]] = %c0_i32 to %[[M]]
// CHECK-NEXT: scf.for %[[L:.*]] = %c0_i32 to %[[K]]
// CHECK-NEXT: %[[EVEN:.*]] = arith.cmpi ne, %[[L]], %[[N]] : i32
// CHECK-NEXT: scf.if %[[EVEN]] {
// CHECK-NOT: tt.load
// CHECK: probe.failures {{.*}}\22access\22:\22load\22
// CHECK-NOT: tt.store
// CHECK: probe.failures {{.*}}\22access\22:\22store\22
tt.func public @nested(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %m: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %total = scf.for %i = %c0 to %m step %c1 iter_args(%a = %zeros) -> (tensor<64xf32>) : i32 {
    %row = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> (tensor<64xf32>) : i32 {
      %even = arith.cmpi ne, %j, %n : i32
      %one = scf.if %even -> (tensor<64xf32>) {
        %start = arith.muli %j, %n : i32
        %s = tt.splat %start : i32 -> tensor<64xi32>
        %o = arith.addi %s, %r : tensor<64xi32>
        %q = tt.addptr %p, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
        %v = tt.load %q : tensor<64x!tt.ptr<f32>>
        %sum = arith.addf %b, %v : tensor<64xf32>
        scf.yield %sum : tensor<64xf32>
      } else {
        scf.yield %b : tensor<64xf32>
      }
      scf.yield %one : tensor<64xf32>
    }
    scf.yield %row : tensor<64xf32>
  }
  %po = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qo = tt.addptr %po, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %qo, %total : tensor<64x!tt.ptr<f32>>
  tt.return
}

// The outer loop loads the start of a row, which a second run may find changed: the look of the inner loop is behind the
// inner loop, and that of the load in the outer one, whose address needs no memory, behind the outer one.
// CHECK-LABEL: tt.func public @loaded
// CHECK: %[[OUTER:.*]] = scf.for {{.*}} -> (i1)
// CHECK: %[[START:.*]] = tt.load
// CHECK: %[[INNER:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %false) -> (i1)
// CHECK: tt.store
// CHECK-NOT: scf.if
// CHECK: scf.if %[[INNER]] {
// CHECK: probe.failures {{.*}}\22access\22:\22store\22
// CHECK: scf.if %[[OUTER]] {
// CHECK: probe.failures {{.*}}\22access\22:\22load\22
// CHECK-NOT: probe.failures {{.*}}\22access\22:\22store\22
// CHECK: tt.return
tt.func public @loaded(%starts: !tt.ptr<i32>, %x: !tt.ptr<f32>, %m: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  scf.for %i = %c0 to %m step %c1 : i32 {
    %at = tt.addptr %starts, %i : !tt.ptr<i32>, i32
    %start = tt.load %at : !tt.ptr<i32>
    scf.for %j = %c0 to %n step %c1 : i32 {
      %first = arith.addi %start, %j : i32
      %s = tt.splat %first : i32 -> tensor<64xi32>
      %o = arith.addi %s, %r : tensor<64xi32>
      %q = tt.addptr %p, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      tt.store %q, %zeros : tensor<64x!tt.ptr<f32>>
    }
  }
  tt.return
}

// Indices that the loop itself loads: the look stays in it.
// CHECK-LABEL: tt.func public @indices
// CHECK: scf.for
// CHECK: "tt.reduce"
// CHECK: scf.if
// CHECK: probe.check {{.*}}\22access\22:\22store\22
// CHECK: tt.return
tt.func public @indices(%at: !tt.ptr<i32>, %x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %a = tt.splat %at : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %b = tt.addptr %a, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %o = tt.load %b : tensor<64x!tt.ptr<i32>>
    %q = tt.addptr %p, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %q, %zeros : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
