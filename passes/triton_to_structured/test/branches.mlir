// RUN: triton-ext-opt %s -triton-ext-triton-to-structured -canonicalize -cse | FileCheck %s

// A branch computes by how much it advances the pointers. The sum is computed
// again behind the branch.
// CHECK-LABEL: tt.func @computed_in_branch
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[C:.*]]: i1, %[[N:.*]]: i32)
// CHECK-DAG: %[[SQUARE:.*]] = arith.muli %[[N]], %[[N]] : i32
// CHECK-DAG: %[[I:.*]] = arith.index_cast %[[SQUARE]] : i32 to index
// CHECK-DAG: %[[BY:.*]] = arith.select %[[C]], %[[I]], %c0 : index
// CHECK: tts.make_tptr %[[X]] to sizes: [8], strides: [1], offsets: [%[[BY]]]
// CHECK-NOT: tt.load
tt.func @computed_in_branch(%x: !tt.ptr<f32>, %c: i1, %n: i32) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %square = arith.muli %n, %n : i32
    %by = tt.splat %square : i32 -> tensor<8xi32>
    %q = tt.addptr %p0, %by : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  } else {
    scf.yield %p0 : tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// A division must not run where the branch does not.
// CHECK-LABEL: tt.func @division_in_branch
// CHECK: scf.if
// CHECK: arith.divsi
// CHECK: tt.load
tt.func @division_in_branch(%x: !tt.ptr<f32>, %c: i1, %n: i32, %m: i32) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %quotient = arith.divsi %n, %m : i32
    %by = tt.splat %quotient : i32 -> tensor<8xi32>
    %q = tt.addptr %p0, %by : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  } else {
    scf.yield %p0 : tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}

// A loop has ended: its values cannot be computed again.
// CHECK-LABEL: tt.func @from_a_loop_in_a_branch
// CHECK: tt.load
tt.func @from_a_loop_in_a_branch(%x: !tt.ptr<f32>, %c: i1, %n: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p = scf.if %c -> (tensor<8x!tt.ptr<f32>>) {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %t = arith.muli %s, %k : i32
      %u = arith.addi %t, %c1 : i32
      scf.yield %u : i32
    }
    %more = arith.addi %sum, %n : i32
    %by = tt.splat %more : i32 -> tensor<8xi32>
    %q = tt.addptr %p0, %by : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  } else {
    scf.yield %p0 : tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}
