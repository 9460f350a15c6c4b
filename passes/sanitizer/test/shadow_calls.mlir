// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=uninit" | FileCheck %s --check-prefix=INIT
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race" | FileCheck %s --check-prefix=RACE
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race calls=false" | FileCheck %s --check-prefix=CODE
// RUN: sed 's/x86-64/cuda:90/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race" | FileCheck %s --check-prefix=CODE

// On a CPU, all lanes of an access are one call, in the branch that is taken if there is a shadow. `how` is 1 for a read
// and 2 for a write.
// INIT: sanitize.shadows = "{{.*}}\22calls\22:true
// INIT-LABEL: tt.func public @shift
// INIT: scf.if
// INIT-NOT: scf.for
// INIT: %[[AT:.*]] = tt.ptr_to_int %{{.*}} : tensor<1024x!tt.ptr<f32>> -> tensor<1024xi64>
// INIT: probe.shadow %[[AT]], "uninit" mask(%{{.*}} : tensor<1024xi1>) {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64
// INIT-NOT: tt.atomic_rmw
// INIT: scf.if
// INIT: probe.shadow %{{.*}}, "uninit" mask({{.*}}) {argument = 0 : i32, bytes = 4 : i32, how = 2 : i64
// INIT-NOT: tt.atomic_rmw

// Codes of 24 bits, two sets; a load is in the first one, and races with the second one, a store in the second one,
// and it races with both: 0x2020018, 0x3020118.
// RACE-LABEL: tt.func public @shift
// RACE: probe.shadow %{{.*}}, "race" mask({{.*}}) numbers(%{{.*}}, %{{.*}}) {argument = 0 : i32, bytes = 4 : i32, how = 33685528 : i64
// RACE: probe.shadow %{{.*}}, "race" mask({{.*}}) numbers(%{{.*}}, %{{.*}}) {argument = 0 : i32, bytes = 4 : i32, how = 50463000 : i64
// RACE-NOT: tt.atomic_rmw

// CODE: sanitize.shadows = "{{.*}}\22calls\22:false
// CODE-NOT: probe.shadow
// CODE: tt.atomic_rmw or
module attributes {probe.target = "x86-64"} {
tt.func public @shift(%x: !tt.ptr<f32>, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %on = arith.cmpi slt, %range, %ns : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %from = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %from, %on : tensor<1024x!tt.ptr<f32>>
  %one = arith.constant dense<1> : tensor<1024xi32>
  %to = tt.addptr %from, %one : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %to, %v, %on : tensor<1024x!tt.ptr<f32>>
  tt.return
}
}
