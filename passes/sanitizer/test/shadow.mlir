// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=uninit" | FileCheck %s --check-prefix=INIT
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race" | FileCheck %s --check-prefix=RACE
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=all" -triton-ext-lower-probe="emit=true" | FileCheck %s --check-prefix=ALL

// ALL: probe.sites = "
// ALL-NOT: probe.check

// A load reads a word of 32 bits, with a bit for each byte; a store sets bits. Both are no accesses of the kernel.
// INIT-LABEL: tt.func public @copy
// INIT: probe.launch_word 12 : i64
// INIT: %[[WORD:.*]] = tt.load {{.*}} {isVolatile = true, sanitize.own} : tensor<64x!tt.ptr<i32>>
// INIT: probe.check {{.*}}, "uninit"{{.*}}\22argument\22:0
// INIT: tt.load {{.*}} : tensor<64x!tt.ptr<f32>>
// INIT: tt.atomic_rmw or, relaxed, gpu, {{.*}} {sanitize.own} : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// INIT-NOT: probe.check
// INIT: tt.store
// RACE-LABEL: tt.func public @copy
// RACE: probe.launch_word 13 : i64
// RACE: tt.atomic_rmw or, relaxed, gpu, {{.*}} {sanitize.own} : (tensor<64x!tt.ptr<i64>>, tensor<64xi64>, tensor<64xi1>) -> tensor<64xi64>
// RACE: probe.check {{.*}}, "race"{{.*}}\22argument\22:0
// RACE: tt.load
// RACE: tt.atomic_rmw or
// RACE: probe.check {{.*}}, "race"{{.*}}\22argument\22:1
// RACE: tt.store
tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  %s = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %t = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %t, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// An element of 2 bytes has 32 bits, of one byte it has none.
// RACE-LABEL: tt.func public @narrow
// RACE: tt.atomic_rmw or, relaxed, gpu, {{.*}} {sanitize.own} : (!tt.ptr<i32>, i32, i1) -> i32
// RACE-NOT: tt.atomic_rmw
// RACE: tt.return
tt.func public @narrow(%x: !tt.ptr<f16>, %y: !tt.ptr<i8>) {
  %v = tt.load %x : !tt.ptr<f16>
  %w = tt.load %y : !tt.ptr<i8>
  tt.return
}
