// RUN: triton-ext-opt %s -triton-ext-triton-to-structured -canonicalize | FileCheck %s --check-prefixes=ALL,CLAMPED
// RUN: triton-ext-opt %s -triton-ext-triton-to-structured="use-unsafe-mask" -canonicalize | FileCheck %s --check-prefixes=ALL,UNSAFE
// RUN: triton-ext-opt %s -triton-ext-triton-to-structured="skip-prepass=false" -canonicalize | FileCheck %s --check-prefix=PREPASS
// RUN: triton-ext-opt %s -triton-ext-triton-to-structured="run-prepass-only" -canonicalize | FileCheck %s --check-prefix=ONLY

// Without the lower clamp, a bound may be below 0.
// ALL-LABEL: tt.func @bounds
// CLAMPED: arith.maxsi
// CLAMPED: arith.maxsi
// UNSAFE-NOT: arith.maxsi
// ALL: "tts.load"
// ONLY-LABEL: tt.func @bounds
// ONLY-NOT: tts
tt.func @bounds(%x: !tt.ptr<f32>, %n: i32, %start: i32) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %start : i32 -> tensor<8xi32>
  %o = arith.addi %i, %s : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %below = arith.cmpi slt, %o, %ns : tensor<8xi32>
  %upto = arith.cmpi sle, %i, %ns : tensor<8xi32>
  %mask = arith.andi %below, %upto : tensor<8xi1>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %base, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v, %mask : tensor<8x!tt.ptr<f32>>
  tt.return
}

// What is known of the pointers is known of those of tts. A cache policy stays.
// ALL-LABEL: tt.func @attributes
// ALL: tts.make_tptr {{.*}} {tt.divisibility = dense<16> : tensor<1xi32>}
// ALL: "tts.load"(%{{.*}}) <{cachePolicy = #tt.cache_policy<{{.*}}cg{{.*}}>, operandSegmentSizes
// ALL: "tts.store"(%{{.*}}) <{cachePolicy = #tt.cache_policy<{{.*}}evict_first{{.*}}>, static_mask_dims
tt.func @attributes(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %base, %i {tt.divisibility = dense<16> : tensor<1xi32>} : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<8x!tt.ptr<f32>>
  tt.return
}

// A loop that carries pointers is rewritten before, or it is not.
// CLAMPED-LABEL: tt.func @carried
// CLAMPED: iter_args(%{{.*}} = %{{.*}}) -> (tensor<8x!tt.ptr<f32>>)
// CLAMPED: tt.store
// PREPASS-LABEL: tt.func @carried
// PREPASS: iter_args(%[[O:.*]] = %{{.*}}) -> (i64)
// PREPASS: tts.make_tptr
// PREPASS: "tts.store"
// ONLY-LABEL: tt.func @carried
// ONLY: iter_args(%[[O:.*]] = %{{.*}}) -> (i64)
// ONLY-NOT: tts
// ONLY: tt.store
tt.func @carried(%x: !tt.ptr<f32>, %n: i32, %v: tensor<8xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %four = arith.constant dense<4> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %end = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %four : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %q : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}
