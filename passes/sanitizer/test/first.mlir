// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s
// RUN: sed 's/"first"/"host"/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" | FileCheck %s --check-prefix=HOST
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=suppress" | FileCheck %s --check-prefix=HOST
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=trap" | FileCheck %s --check-prefix=HOST
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds corners=false" | FileCheck %s --check-prefix=HOST

// With these options the host compiles the kernel that counts lanes.
// CHECK: sanitize.first = "[\22bounds\22,\22report\22]"
// HOST-NOT: sanitize.first
// HOST-NOT: probe.outside
module attributes {sanitize.looks = "first"} {

// Of what is looked at lane by lane, the kernel keeps the first lane. The host compares the corners of the others.
// CHECK-LABEL: tt.func public @gather
// CHECK: tt.load
// CHECK: %[[FROM:.*]] = tt.addptr
// CHECK: tt.load %[[FROM]], %[[ON:.*]] :
// CHECK: %[[ADDRESS:.*]] = tt.ptr_to_int %[[FROM]]
// CHECK-NEXT: probe.outside %[[ADDRESS]], "view" mask(%[[ON]] : tensor<128xi1>) {argument = 0 : i32, bytes = 4 : i32
// CHECK-NOT: tt.reduce
// CHECK-NOT: scf.if
// CHECK: tt.store
// CHECK: probe.follow "bounds"
tt.func public @gather(%x: !tt.ptr<f32>, %index: !tt.ptr<i32>, %y: !tt.ptr<f32>, %n: i32) {
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

// In a loop an operation with an effect would keep Triton from pipelining it, so the look stays as it was.
// CHECK-LABEL: tt.func public @loop
// CHECK-NOT: probe.outside
// CHECK: tt.return
tt.func public @loop(%x: !tt.ptr<f32>, %index: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %is = tt.splat %index : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  scf.for %k = %c0 to %n step %c128 : i32 {
    %ks = tt.splat %k : i32 -> tensor<128xi32>
    %place = arith.addi %range, %ks : tensor<128xi32>
    %at = tt.addptr %is, %place : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %i = tt.load %at : tensor<128x!tt.ptr<i32>>
    %to = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %to, %zero : tensor<128x!tt.ptr<f32>>
  }
  tt.return
}

// The corners of these are known to the other kernel, which computes the lanes again.
// CHECK-LABEL: tt.func public @exchange
// CHECK-NOT: probe.outside
// CHECK: probe.raise
tt.func public @exchange(%x: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %ones = arith.constant dense<1> : tensor<128xi32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %other = arith.xori %range, %ones : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %xs, %other : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %zero : tensor<128x!tt.ptr<f32>>
  tt.return
}

}
