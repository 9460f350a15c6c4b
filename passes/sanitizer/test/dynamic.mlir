// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds static=false" -cse -canonicalize | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds corners=false" -cse -canonicalize | FileCheck %s --check-prefix=EACH
// RUN: sed 's/"host"/"only"/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds static=false" -cse -canonicalize | FileCheck %s --check-prefix=ONLY

// Nothing is proved, and the host decides nothing: the kernel raises the flag of the launch.
// CHECK: sanitize.apart = "[\22bounds\22,\22report\22]"
// CHECK-SAME: sanitize.static = "false"
// CHECK-NOT: \22verdict\22:\22proved\22
// EACH-NOT: sanitize.apart
module attributes {sanitize.looks = "host"} {

// The corners of three accesses, of which one repeats another.
// CHECK-LABEL: tt.func public @copy
// CHECK-NOT: tt.reduce
// CHECK-NOT: scf.if
// CHECK-NOT: probe.follow
// CHECK-COUNT-2: arith.xori
// CHECK-COUNT-2: arith.ori
// CHECK: probe.raise %{{.*}}, "bounds"
// CHECK-NOT: probe.
// CHECK: tt.return
// EACH-LABEL: tt.func public @copy
// EACH-NOT: probe.raise
// EACH-COUNT-3: "tt.reduce"
// ONLY-LABEL: tt.func public @copy
// ONLY-NOT: tt.load
// ONLY: probe.raise
// ONLY: scf.if
// ONLY-NOT: tt.store
tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  %on = arith.cmpi slt, %range, %ns : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %from = tt.addptr %xs, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %from, %on, %zero : tensor<128x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %ys, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %v, %on : tensor<128x!tt.ptr<f32>>
  tt.store %to, %zero, %on : tensor<128x!tt.ptr<f32>>
  tt.return
}

}
