// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s
// RUN: sed 's/x86-64/cuda:90/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" | FileCheck %s --check-prefix=LOOK
// RUN: sed 's/"host"/"first"/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" | FileCheck %s --check-prefix=LOOK
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=suppress" | FileCheck %s --check-prefix=LOOK
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=trap" | FileCheck %s --check-prefix=LOOK
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds corners=false" | FileCheck %s --check-prefix=LOOK

// LOOK-NOT: probe.outside =
module attributes {probe.target = "x86-64", sanitize.looks = "host"} {

// On a CPU, the two checks of a gather say what the runtime can look for: 4 bytes in the argument 1. They are in no branch.
// CHECK-LABEL: tt.func public @gather
// CHECK: tt.load
// CHECK: %[[FROM:.*]] = tt.addptr
// CHECK: tt.load %[[FROM]], %[[ON:.*]] :
// CHECK: %[[ADDRESS:.*]] = tt.ptr_to_int %[[FROM]]
// CHECK-NOT: scf.if
// CHECK-NOT: tt.reduce
// CHECK: probe.check %{{.*}}, "bounds"{{.*}} mask(%[[ON]]
// CHECK-SAME: probe.outside = array<i64: 1, 4>
// CHECK-NOT: scf.if
// CHECK: probe.check %{{.*}}, "view"{{.*}} mask(%[[ON]]
// CHECK-NOT: scf.if
// CHECK: tt.store
tt.func public @gather(%index: !tt.ptr<i32>, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  %on = arith.cmpi slt, %range, %ns : tensor<128xi32>
  %is = tt.splat %index : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %at = tt.addptr %is, %range : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %i = tt.load %at, %on : tensor<128x!tt.ptr<i32>>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %from = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %from, %on : tensor<128x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %ys, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %v, %on : tensor<128x!tt.ptr<f32>>
  tt.return
}

}
