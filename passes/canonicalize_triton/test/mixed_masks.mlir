// RUN: triton-ext-opt %s -canonicalize-triton -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,SAFE
// RUN: triton-ext-opt %s -canonicalize-triton=speculate-loads -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,ALL

// The store shows that all elements between the bounds can be read.
// CHECK-LABEL: tt.func @shown
// CHECK: %[[B:.*]] = arith.cmpi slt
// CHECK: %[[G:.*]] = arith.cmpi sge
// CHECK: %[[BOX:.*]] = arith.andi %[[B]], %[[G]]
// CHECK: %[[V:.*]] = tt.load %{{.*}}, %[[BOX]], %[[O:.*]] :
// CHECK: arith.select %{{.*}}, %[[V]], %[[O]]
tt.func @shown(%x: !tt.ptr<f32>, %n: i32, %m: tensor<64xi1>, %o: tensor<64xf32>, %v: tensor<64xf32>) -> tensor<64xf32> {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %b = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %g = arith.cmpi sge, %r, %three : tensor<64xi32>
  %mb = arith.andi %m, %b : tensor<64xi1>
  %both = arith.andi %mb, %g : tensor<64xi1>
  %box = arith.andi %g, %b : tensor<64xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %p, %both, %o : tensor<64x!tt.ptr<f32>>
  tt.store %p, %v, %box : tensor<64x!tt.ptr<f32>>
  tt.return %a : tensor<64xf32>
}

// -----

// So does a load in front of a branch. Without another value, it is 0.
// CHECK-LABEL: tt.func @in_front
// CHECK: tt.load
// CHECK: scf.if
// CHECK: %[[V:.*]] = tt.load %{{.*}}, %{{.*}} :
// CHECK: arith.select %{{.*}}, %[[V]], %cst
tt.func @in_front(%x: !tt.ptr<f32>, %n: i32, %m: tensor<64xi1>, %c: i1, %z: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %b = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %both = arith.andi %b, %m : tensor<64xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %all = tt.load %p : tensor<64x!tt.ptr<f32>>
  %v = scf.if %c -> (tensor<64xf32>) {
    %a = tt.load %p, %both : tensor<64x!tt.ptr<f32>>
    scf.yield %a : tensor<64xf32>
  } else {
    scf.yield %z : tensor<64xf32>
  }
  tt.return %all, %v : tensor<64xf32>, tensor<64xf32>
}

// -----

// No other access shows it: one has a further mask, one is in a branch, and behind one there may be no return.
// CHECK-LABEL: tt.func @not_shown
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<64xi1>
// SAFE: %[[BOTH:.*]] = arith.andi
// SAFE: %[[V:.*]] = tt.load %{{.*}}, %[[BOTH]] :
// SAFE-NOT: arith.select
// ALL: %[[B:.*]] = arith.cmpi slt
// ALL: %[[V:.*]] = tt.load %{{.*}}, %[[B]] :
// ALL: %[[S:.*]] = arith.select %[[M]], %[[V]]
tt.func @not_shown(%x: !tt.ptr<f32>, %m: tensor<64xi1>, %k: tensor<64xi1>, %n: i32, %c: i1, %v: tensor<64xf32>) -> tensor<64xf32> {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %b = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %both = arith.andi %m, %b : tensor<64xi1>
  %other = arith.andi %k, %b : tensor<64xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %p, %both : tensor<64x!tt.ptr<f32>>
  tt.store %p, %v, %other : tensor<64x!tt.ptr<f32>>
  scf.if %c {
    tt.store %p, %v, %b : tensor<64x!tt.ptr<f32>>
  }
  tt.assert %c, "it goes on" : i1
  tt.store %p, %v, %b : tensor<64x!tt.ptr<f32>>
  tt.return %a : tensor<64xf32>
}

// -----

// Nothing is a box, nothing else is a mask, and the pointers are not strided.
// CHECK-LABEL: tt.func @negative
// CHECK-NOT: arith.select
tt.func @negative(%x: !tt.ptr<f32>, %n: i32, %m: tensor<64xi1>, %k: tensor<64xi1>, %i: tensor<64xi32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %b = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %g = arith.cmpi sgt, %r, %ns : tensor<64xi32>
  %any = arith.andi %m, %k : tensor<64xi1>
  %box = arith.andi %b, %g : tensor<64xi1>
  %both = arith.andi %m, %b : tensor<64xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %0 = tt.load %p, %any : tensor<64x!tt.ptr<f32>>
  %1 = tt.load %p, %box : tensor<64x!tt.ptr<f32>>
  %2 = tt.load %q, %both : tensor<64x!tt.ptr<f32>>
  tt.return %0, %1, %2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
