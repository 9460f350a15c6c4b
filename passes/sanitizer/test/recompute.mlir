// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s

// For NVIDIA, the rare branch behind the loop takes the arguments anew, plus a word that is 0, and nothing that was computed before the loop.
// The words of the tensor that only the store behind the loop needs are read behind the loop.
// CHECK-LABEL: tt.func public @sums
// CHECK-SAME: %[[X:.*]]: !tt.ptr<f32>, %[[OUT:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32
// CHECK-NOT: probe.launch_word 19
// CHECK: probe.launch_word 11
// CHECK-NOT: probe.launch_word 19
// CHECK: %[[WIDE:.*]] = arith.muli %[[N]], %[[N]] : i32
// CHECK: %[[LOOP:.*]]:2 = scf.for
// CHECK: probe.launch_word 19
// CHECK: scf.if %[[LOOP]]#1 {
// CHECK-NOT: %[[WIDE]]
// CHECK: %[[ZERO:.*]] = probe.launch_word 4 : i64
// CHECK: %[[NARROW:.*]] = arith.trunci %[[ZERO]] : i64 to i32
// CHECK: %[[HIDDEN:.*]] = arith.addi %[[N]], %[[NARROW]] : i32
// CHECK-NOT: %[[N]]
// CHECK: %[[AGAIN:.*]] = arith.muli %[[HIDDEN]], %[[HIDDEN]] : i32
// CHECK: scf.for {{.*}} to %[[HIDDEN]]
// CHECK: probe.failures
// CHECK: tt.return
module attributes {probe.target = "cuda:90"} {
tt.func public @sums(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %wide = arith.muli %n, %n : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zeros) -> (tensor<64xf32>) : i32 {
    %start = arith.muli %i, %wide : i32
    %s = tt.splat %start : i32 -> tensor<64xi32>
    %t = tt.addptr %q, %s : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %t : tensor<64x!tt.ptr<f32>>
    %sum = arith.addf %a, %v : tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  %po = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qo = tt.addptr %po, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %qo, %total : tensor<64x!tt.ptr<f32>>
  tt.return
}
}
