// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -cse -canonicalize | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds action=trap" | FileCheck %s --check-prefix=TRAP
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=bounds" -triton-ext-lower-probe="emit=true" | FileCheck %s --check-prefix=LOWERED

// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=uninit,race" | FileCheck %s --check-prefix=APART
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=uninit,race action=suppress" | FileCheck %s --check-prefix=SUPPRESS
// RUN: sed 's/"host"/"shadows"/' %s | triton-ext-opt --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race" | FileCheck %s --check-prefix=RACE

// The host compares the corners of what needs only integers of the launch.
// CHECK: sanitize.apart = "[\22bounds\22,\22report\22,[
// CHECK-SAME: {\22argument\22:1,\22bytes\22:4,{{[^}]*}}\22kind\22:\22read\22
// CHECK-SAME: {\22argument\22:2,\22bytes\22:4,{{[^}]*}}\22kind\22:\22write\22
// CHECK-SAME: {\22argument\22:0,\22bytes\22:4,{{[^}]*}}\22kind\22:\22write\22
// TRAP-NOT: probe.follow
// LOWERED: \22follows\22:[\22bounds\22]
// Looks at shadows are in another kernel.
// APART: sanitize.missing = "[\22uninit,race\22,\22report\22,[\22uninit\22,\22race\22]]"
// SUPPRESS: sanitize.missing = "{{.*}},[\22race\22]]"
// APART-SAME: sanitize.shadows = {{.*}}\22check\22:\22race\22
// RACE-NOT: sanitize.missing
// RACE: sanitize.shadows = {{.*}}\22check\22:\22race\22
module attributes {sanitize.looks = "host"} {

// The kernel still compares what it has loaded, and nothing else.
// CHECK-LABEL: tt.func public @gather
// CHECK-COUNT-2: probe.launch_word
// CHECK: "tt.reduce"
// CHECK: scf.if
// CHECK: probe.follow "bounds"
// CHECK-NEXT: tt.return
tt.func public @gather(%x: !tt.ptr<f32>, %index: !tt.ptr<i32>, %y: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %is = tt.splat %index : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %at = tt.addptr %is, %range : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %i = tt.load %at : tensor<128x!tt.ptr<i32>>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %from = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %from : tensor<128x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %ys, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %v : tensor<128x!tt.ptr<f32>>
  tt.return
}

// A tile without corners has a flag, which then serves all accesses.
// CHECK-LABEL: tt.func public @exchange
// CHECK-NOT: probe.follow
// CHECK: probe.raise
// CHECK-NOT: probe.follow
tt.func public @exchange(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %ones = arith.constant dense<1> : tensor<128xi32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %other = arith.xori %range, %ones : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to = tt.addptr %xs, %other : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to, %zero : tensor<128x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %too = tt.addptr %ys, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %too, %zero : tensor<128x!tt.ptr<f32>>
  tt.return
}

// A loop stays as it was.
// CHECK-LABEL: tt.func public @loop
// CHECK-NOT: probe.launch_word
// CHECK: scf.for %{{.*}} : i32 {
// CHECK-NEXT: tt.splat
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tt.addptr
// CHECK-NEXT: tt.store
// CHECK-NEXT: }
// CHECK-NEXT: probe.follow "bounds"
// APART-LABEL: tt.func public @loop
// APART-NOT: probe.launch_word
// APART: probe.follow "uninit"
// APART-NEXT: probe.follow "race"
// SUPPRESS-LABEL: tt.func public @loop
// SUPPRESS: probe.launch_word
// SUPPRESS: tt.atomic_rmw or
// SUPPRESS-NOT: probe.follow "uninit"
// SUPPRESS: probe.follow "race"
// RACE-LABEL: tt.func public @loop
// RACE: probe.launch_word
// RACE: probe.failures
// LOWERED-LABEL: tt.func public @loop
// LOWERED-NOT: ttg.global_scratch_alloc
// LOWERED-NOT: probe.follow
tt.func public @loop(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  scf.for %i = %c0 to %n step %c128 : i32 {
    %is = tt.splat %i : i32 -> tensor<128xi32>
    %at = arith.addi %range, %is : tensor<128xi32>
    %to = tt.addptr %xs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %to, %zero : tensor<128x!tt.ptr<f32>>
  }
  tt.return
}

}
