// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s
// RUN: sed 's/"raise"/"only"/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s --check-prefix=ONLY
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=trap" | FileCheck %s --check-prefix=TRAP
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -triton-ext-lower-probe="emit=true" | FileCheck %s --check-prefix=LOWERED

// TRAP-NOT: probe.raise
// LOWERED: \22raises\22:[\22bounds\22]
// LOWERED-NOT: probe.raise

// The host compiles the kernel with the looks by these options.
// CHECK: sanitize.apart = "[\22bounds\22,\22report\22]"
// ONLY-NOT: sanitize.
module attributes {sanitize.looks = "raise"} {

// Memory may have changed when the other kernel runs, so a look that needs a loaded number stays.
// CHECK-LABEL: tt.func public @loaded
// CHECK: tt.load
// CHECK: probe.failures
// ONLY-LABEL: tt.func public @loaded
// ONLY-NEXT: tt.return
tt.func public @loaded(%x: !tt.ptr<f32>, %count: !tt.ptr<i32>) {
  %n = tt.load %count : !tt.ptr<i32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %range, %ns : tensor<128xi32>
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %xs, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %zero, %mask : tensor<128x!tt.ptr<f32>>
  tt.return
}

// The kernel says that a corner is out. The other kernel has the look, and nothing that it does not need.
// CHECK-LABEL: tt.func public @copy
// CHECK: tt.store
// CHECK-NOT: scf.
// CHECK: probe.raise %{{.*}}, "bounds"
// CHECK-NEXT: tt.return
// ONLY-LABEL: tt.func public @copy
// ONLY-NOT: tt.load
// ONLY-NOT: tt.store
// ONLY: scf.if
// ONLY: probe.failures
// LOWERED-LABEL: tt.func public @copy
// LOWERED: %[[WORD:.*]] = tt.addptr {{.*}}, %c32_i64
// LOWERED: tt.atomic_rmw add, relaxed, gpu, %[[WORD]], %c1_i64
tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %range, %ns : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %from = tt.addptr %xs, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %from, %mask : tensor<128x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %ys, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %v, %mask : tensor<128x!tt.ptr<f32>>
  tt.return
}

// A loop carries the bit of its corners. The other kernel repeats what that needs: not the sum.
// What the loop does not change is known before it.
// CHECK-LABEL: tt.func public @loop
// CHECK: probe.raise
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: probe.raise
// ONLY-LABEL: tt.func public @loop
// ONLY: %[[BIT:.*]] = scf.for
// ONLY-NOT: f32>
// ONLY: scf.if %[[BIT]]
// ONLY: probe.failures
tt.func public @loop(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> (tensor<128xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128xi32>
    %at = arith.addi %range, %is : tensor<128xi32>
    %from = tt.addptr %xs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %from : tensor<128x!tt.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %ys, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %sum : tensor<128x!tt.ptr<f32>>
  tt.return
}

}
