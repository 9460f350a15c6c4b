// RUN: triton-ext-opt %s -triton-ext-carry-strides -canonicalize -cse | FileCheck %s

// Pointers that wrap around are carried as the scalar to which the remainders are added.
// CHECK-LABEL: tt.func @wraps_in_while
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32, %[[M:.*]]: i32, %[[STEP:.*]]: i32)
// CHECK: %[[W:.*]] = arith.remsi
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[X]]) : (i32, !tt.ptr<f32>) -> (i32, !tt.ptr<f32>)
// CHECK: ^bb0(%{{.*}}: i32, %[[B:.*]]: !tt.ptr<f32>)
// CHECK: %[[S:.*]] = tt.splat %[[B]] : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
// CHECK: %[[P:.*]] = tt.addptr %[[S]], %[[W]] : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK: tt.load %[[P]]
// CHECK: %[[NEXT:.*]] = tt.addptr %[[B]], %[[STEP]] : !tt.ptr<f32>, i32
// CHECK: scf.yield %{{.*}}, %[[NEXT]] : i32, !tt.ptr<f32>
// CHECK: %[[E:.*]] = tt.splat %[[R]]#1
// CHECK: %[[Q:.*]] = tt.addptr %[[E]], %[[W]]
// CHECK: tt.load %[[Q]]
tt.func @wraps_in_while(%x: !tt.ptr<f32>, %n: i32, %m: i32, %step: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %w = arith.remsi %i, %ms : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %w : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %r:2 = scf.while (%k = %c0, %p = %p0) : (i32, tensor<8x!tt.ptr<f32>>) -> (i32, tensor<8x!tt.ptr<f32>>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %p : i32, tensor<8x!tt.ptr<f32>>
  } do {
  ^bb0(%k: i32, %p: tensor<8x!tt.ptr<f32>>):
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    %by = tt.splat %step : i32 -> tensor<8xi32>
    %q = tt.addptr %p, %by : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %k1 = arith.addi %k, %c1 : i32
    scf.yield %k1, %q : i32, tensor<8x!tt.ptr<f32>>
  }
  %last = tt.load %r#1 : tensor<8x!tt.ptr<f32>>
  tt.return %last : tensor<8xf32>
}

// Two gathered tiles of two arrays are swapped. They have the same offsets, so their bases are swapped. A branch
// advances one of them.
// CHECK-LABEL: tt.func @swapped
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<i32>, %[[Y:.*]]: !tt.ptr<i32>,
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]]) -> (!tt.ptr<i32>, !tt.ptr<i32>)
// CHECK: %[[LATER:.*]] = arith.cmpi sgt
// CHECK: %[[NEXT:.*]] = scf.if %[[LATER]] -> (!tt.ptr<i32>) {
// CHECK: %[[STEP:.*]] = tt.addptr %[[B]], %c8_i32 : !tt.ptr<i32>, i32
// CHECK: scf.yield %[[STEP]]
// CHECK: scf.yield %[[B]]
// CHECK: scf.yield %[[NEXT]], %[[A]]
tt.func @swapped(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32, %rows: tensor<8x1xi32>, %columns: tensor<1x4xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant dense<8> : tensor<8x4xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x1x!tt.ptr<i32>>
  %xr = tt.addptr %xs, %rows : tensor<8x1x!tt.ptr<i32>>, tensor<8x1xi32>
  %xb = tt.broadcast %xr : tensor<8x1x!tt.ptr<i32>> -> tensor<8x4x!tt.ptr<i32>>
  %cb = tt.broadcast %columns : tensor<1x4xi32> -> tensor<8x4xi32>
  %p0 = tt.addptr %xb, %cb : tensor<8x4x!tt.ptr<i32>>, tensor<8x4xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<8x1x!tt.ptr<i32>>
  %yr = tt.addptr %ys, %rows : tensor<8x1x!tt.ptr<i32>>, tensor<8x1xi32>
  %yb = tt.broadcast %yr : tensor<8x1x!tt.ptr<i32>> -> tensor<8x4x!tt.ptr<i32>>
  %q0 = tt.addptr %yb, %cb : tensor<8x4x!tt.ptr<i32>>, tensor<8x4xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0)
      -> (tensor<8x4x!tt.ptr<i32>>, tensor<8x4x!tt.ptr<i32>>) : i32 {
    %v = tt.load %p : tensor<8x4x!tt.ptr<i32>>
    tt.store %q, %v : tensor<8x4x!tt.ptr<i32>>
    %later = arith.cmpi sgt, %k, %c1 : i32
    %q1 = scf.if %later -> (tensor<8x4x!tt.ptr<i32>>) {
      %s = tt.addptr %q, %c8 : tensor<8x4x!tt.ptr<i32>>, tensor<8x4xi32>
      scf.yield %s : tensor<8x4x!tt.ptr<i32>>
    } else {
      scf.yield %q : tensor<8x4x!tt.ptr<i32>>
    }
    scf.yield %q1, %p : tensor<8x4x!tt.ptr<i32>>, tensor<8x4x!tt.ptr<i32>>
  }
  tt.return
}

// The offsets of the two tiles differ, so the loop carries them.
// CHECK-LABEL: tt.func @two_rests
// CHECK-SAME: %[[A:[^,]*]]: tensor<8xi32>, %[[B:.*]]: tensor<8xi32>)
// CHECK-DAG: %[[AW:.*]] = arith.extsi %[[A]] : tensor<8xi32> to tensor<8xi64>
// CHECK-DAG: %[[BW:.*]] = arith.extsi %[[B]] : tensor<8xi32> to tensor<8xi64>
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %[[AW]], %[[Q:.*]] = %[[BW]]) -> (tensor<8xi64>, tensor<8xi64>)
// CHECK: scf.yield %[[Q]], %[[P]]
tt.func @two_rests(%x: !tt.ptr<i32>, %n: i32, %a: tensor<8xi32>, %b: tensor<8xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p0 = tt.addptr %xs, %a : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %q0 = tt.addptr %xs, %b : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0)
      -> (tensor<8x!tt.ptr<i32>>, tensor<8x!tt.ptr<i32>>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<i32>>
    tt.store %q, %v : tensor<8x!tt.ptr<i32>>
    scf.yield %q, %p : tensor<8x!tt.ptr<i32>>, tensor<8x!tt.ptr<i32>>
  }
  tt.return
}

// Indices of any kind: what is added to and subtracted from them is carried. The sum of two of them is not shifted.
// CHECK-LABEL: tt.func @indices
// CHECK-SAME: %[[A:[^,]*]]: tensor<8xi32>, %[[N:.*]]: i32
// CHECK: %[[R:.*]]:2 = scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %[[A]], %[[S:.*]] = %c0_i32) -> (tensor<8xi32>, i32)
// CHECK: %[[MORE:.*]] = arith.addi %[[K]], %[[S]] : i32
// CHECK: %[[NEXT:.*]] = arith.subi %[[MORE]], %c3_i32 : i32
// CHECK: scf.yield %{{.*}}, %[[NEXT]] : tensor<8xi32>, i32
// CHECK: %[[B:.*]] = tt.splat %[[R]]#1
// CHECK: arith.addi %[[B]], %[[A]]
tt.func @indices(%a: tensor<8xi32>, %n: i32) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %a, %t = %a) -> (tensor<8xi32>, tensor<8xi32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<8xi32>
    %s1 = arith.addi %ks, %s : tensor<8xi32>
    %s2 = arith.subi %s1, %c3 : tensor<8xi32>
    %t1 = arith.addi %t, %s : tensor<8xi32>
    scf.yield %s2, %t1 : tensor<8xi32>, tensor<8xi32>
  }
  tt.return %r#0, %r#1 : tensor<8xi32>, tensor<8xi32>
}
