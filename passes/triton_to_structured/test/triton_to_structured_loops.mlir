// RUN: triton-ext-opt %s -triton-ext-scalarize-induction -canonicalize -triton-ext-triton-to-structured -canonicalize -cse | FileCheck %s

// The loop carries one offset for the tile that it advances.
// CHECK-LABEL: tt.func @advances
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32, %[[STEP:.*]]: i32)
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}) -> (tensor<8xf32>, i64)
// CHECK: %[[I:.*]] = arith.index_cast %[[O]] : i64 to index
// CHECK: %[[P:.*]] = tts.make_tptr %[[X]] to sizes: [8], strides: [1], offsets: [%[[I]]], shape: [0], order: []
// CHECK: "tts.load"(%[[P]])
// CHECK-NOT: tt.load
// CHECK-NOT: tt.addptr
tt.func @advances(%x: !tt.ptr<f32>, %n: i32, %step: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %by = tt.splat %step : i32 -> tensor<8xi32>
  %sum, %end = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zeros, %p = %p0) -> (tensor<8xf32>, tensor<8x!tt.ptr<f32>>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    %t = arith.addf %s, %v : tensor<8xf32>
    %q = tt.addptr %p, %by : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %t, %q : tensor<8xf32>, tensor<8x!tt.ptr<f32>>
  }
  tt.return %sum : tensor<8xf32>
}
