// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-scalarize-induction -canonicalize | FileCheck %s

// The loop carries how far the pointers have come, not the pointers.
// CHECK-LABEL: tt.func public @walk
// CHECK: scf.for {{.*}} iter_args(%[[FAR:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[ALL:.*]] = tt.splat %[[FAR]] : i64 -> tensor<16xi64>
// CHECK: tt.addptr %{{.*}}, %[[ALL]]
// CHECK: arith.addi %[[FAR]]
tt.func public @walk(%x: !tt.ptr<f32>, %n: i32, %step: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %start = tt.addptr %p, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %by = tt.splat %step : i32 -> tensor<16xi32>
  %end = scf.for %k = %c0 to %n step %c1 iter_args(%at = %start) -> (tensor<16x!tt.ptr<f32>>) : i32 {
    %v = tt.load %at : tensor<16x!tt.ptr<f32>>
    tt.store %at, %v : tensor<16x!tt.ptr<f32>>
    %next = tt.addptr %at, %by : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %next : tensor<16x!tt.ptr<f32>>
  }
  tt.return
}
