// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=uninit" | FileCheck %s --check-prefix=INIT
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race" | FileCheck %s --check-prefix=RACE
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race static=false" | FileCheck %s --check-prefix=LANES
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=uninit static=false" | FileCheck %s --check-prefix=STAY
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=all" -triton-ext-lower-probe="emit=true" | FileCheck %s --check-prefix=ALL

// What the host decides by. Accesses that nothing can race with are not in it.
// RACE: sanitize.shadows = "
// RACE-SAME: {\22argument\22:0,\22bytes\22:4,\22check\22:\22race\22,\22column\22:{{[0-9]+}},\22file\22:\22{{[^,]*}}shadow.mlir\22,\22kind\22:\22read\22,\22line\22:{{[0-9]+}},\22set\22:\22load\22,\22word\22:4}
// RACE-SAME: \22kind\22:\22write\22
// RACE-SAME: \22kernel\22:\22copy\22
// RACE-NOT: reads_only
// ALL: probe.sites = "
// ALL-NOT: probe.check

// A load reads words of 32 bits, with a bit for each byte; a store sets bits. Both are no accesses of the kernel, and
// are in a branch behind them, which is taken if the launch gives the address of a shadow. First come whole words, and
// then single lanes, if any are left. The two looks differ in scalars only, so a loop runs the same code for both: it
// chooses the shadow, the words of the tensor, the pointer, and whether the look reports and marks.
// INIT-LABEL: tt.func public @copy
// INIT-DAG: %[[X:.*]] = probe.launch_word 12 : i64
// INIT-DAG: %[[HAS_X:.*]] = arith.cmpi ne, %[[X]],
// INIT-DAG: %[[Y:.*]] = probe.launch_word 20 : i64
// INIT-DAG: %[[HAS_Y:.*]] = arith.cmpi ne, %[[Y]],
// INIT: tt.load {{.*}} : tensor<64x!tt.ptr<f32>>
// INIT: tt.store
// INIT: %[[ANY:.*]] = arith.ori %[[HAS_X]], %[[HAS_Y]]
// INIT: scf.if %[[ANY]] {
// INIT: scf.for %[[TURN:.*]] = %c0_i32{{.*}} to %c2_i32{{.*}} step %c1_i32{{.*}} : i32 {
// INIT: %[[IS_X:.*]] = arith.cmpi eq, %[[TURN]],
// INIT: %[[HAS:.*]] = arith.select %[[IS_X]], %[[HAS_X]], %[[HAS_Y]]
// INIT: %[[BASE:.*]] = arith.select %[[IS_X]], %arg0, %arg1 : !tt.ptr<f32>
// INIT: %[[OFFSET:.*]] = arith.select %[[IS_X]], %c0_i64{{.*}}, %c8_i64
// INIT: %[[REPORTS:.*]] = arith.select %[[IS_X]], %true{{.*}}, %false
// INIT: %[[MARKS:.*]] = arith.select %[[IS_X]], %false{{.*}}, %true
// INIT: scf.if %[[HAS]] {
// INIT: probe.launch_word 8 + %[[OFFSET]]
// INIT: %[[LEFT:.*]] = scf.for {{.*}} iter_args
// INIT: tt.splat %[[BASE]]
// INIT: %[[WORDS:.*]] = tt.load {{.*}} {isVolatile = true, sanitize.own} : tensor<8x!tt.ptr<i32>>
// INIT: arith.andi %[[WORDS]], %{{.*}} : tensor<8xi32>
// INIT: tt.splat %[[REPORTS]]
// INIT: tt.splat %[[MARKS]]
// INIT: tt.store {{.*}} {sanitize.own} : tensor<8x!tt.ptr<i32>>
// INIT: scf.if
// INIT: tt.atomic_rmw or, relaxed, gpu, {{.*}} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
// INIT: arith.extui %[[LEFT]]
// INIT: scf.if
// INIT: tt.load {{.*}} {isVolatile = true, sanitize.own} : tensor<64x!tt.ptr<i32>>
// INIT: tt.splat %[[REPORTS]]
// INIT: probe.failures %[[TURN]], {{.*}} messages ["uninit", "uninit"]{{.*}}\22argument\22:0{{.*}}\22argument\22:1
// INIT: tt.splat %[[MARKS]]
// INIT: tt.atomic_rmw or, relaxed, gpu, {{.*}} {sanitize.own} : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// INIT-NOT: probe.failures
// INIT: tt.return
// RACE-LABEL: tt.func public @copy
// RACE-DAG: %[[X:.*]] = probe.launch_word 13 : i64
// RACE-DAG: %[[HAS_X:.*]] = arith.cmpi ne, %[[X]],
// RACE: tt.load
// RACE: tt.store
// RACE: scf.for %[[TURN:.*]] =
// RACE: tt.atomic_rmw or, relaxed, gpu, {{.*}} {sanitize.own} : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// RACE: probe.failures %[[TURN]], {{.*}} messages ["race", "race"]{{.*}}\22argument\22:0{{.*}}\22argument\22:1
// RACE-NOT: tt.atomic_rmw
// RACE: tt.return
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

// An element of 2 or 4 bytes has 32 bits. Two neighbouring bytes share 32 bits: what is added is moved to the half of
// the byte, and what was there is moved back.
// RACE-LABEL: tt.func public @narrow
// RACE: tt.atomic_rmw or, relaxed, gpu, {{.*}} {sanitize.own} : (!tt.ptr<i32>, i32, i1) -> i32
// RACE: %[[HALF:.*]] = arith.andi %[[BYTE:.*]], %c2_i64{{[_0-9]*}} : i64
// RACE: arith.xori %[[BYTE]], %[[HALF]] : i64
// RACE: %[[SHIFT:.*]] = arith.shli {{.*}} : i32
// RACE: %[[ADDED:.*]] = arith.shli %{{.*}}, %[[SHIFT]] : i32
// RACE: %[[OLD:.*]] = tt.atomic_rmw or, relaxed, gpu, {{.*}}, %[[ADDED]], {{.*}} {sanitize.own} : (!tt.ptr<i32>, i32, i1) -> i32
// RACE: arith.shrui %[[OLD]], %[[SHIFT]] : i32
// RACE: tt.atomic_rmw or, relaxed, gpu, {{.*}} {sanitize.own} : (!tt.ptr<i32>, i32, i1) -> i32
// RACE-NOT: tt.atomic_rmw
// RACE: tt.return
tt.func public @narrow(%x: !tt.ptr<f16>, %y: !tt.ptr<i8>) {
  %v = tt.load %x : !tt.ptr<f16>
  %w = tt.load %y : !tt.ptr<i8>
  tt.store %x, %v : !tt.ptr<f16>
  tt.return
}

// Accesses that all read, or that are all atomic, cannot race.
// RACE-LABEL: tt.func public @reads_only
// RACE-NOT: scf.if
// RACE: tt.return
tt.func public @reads_only(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %v = tt.load %x : !tt.ptr<f32>
  %w = tt.load %y : !tt.ptr<f32>
  tt.return
}
// RACE-LABEL: tt.func public @atomics_only
// RACE-NOT: scf.if
// RACE: tt.return
tt.func public @atomics_only(%x: !tt.ptr<f32>, %v: f32) {
  %w = tt.atomic_rmw fadd, acq_rel, gpu, %x, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// The looks at a loop's loads are in a slice behind it and behind the next store, but before that is marked.
// INIT-LABEL: tt.func public @sum
// INIT: scf.for
// INIT-NOT: scf.if
// INIT: scf.yield
// INIT-NOT: scf.if
// INIT: tt.store {{.*}} : tensor<64x!tt.ptr<f32>>
// INIT: scf.if
// INIT: scf.for
// INIT: tt.load {{.*}} {isVolatile = true, sanitize.own}
// INIT: scf.if
// INIT: tt.atomic_rmw or
// RACE-LABEL: tt.func public @sum
// RACE: scf.for
// RACE-NOT: scf.if
// RACE: tt.store
// RACE: scf.if
// RACE: tt.atomic_rmw or
// RACE: tt.return
tt.func public @sum(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %step = arith.constant dense<64> : tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%all = %none, %at = %q) -> (tensor<64xf32>, tensor<64x!tt.ptr<f32>>) : i32 {
    %v = tt.load %at : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %all, %v : tensor<64xf32>
    %next = tt.addptr %at, %step : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %w, %next : tensor<64xf32>, tensor<64x!tt.ptr<f32>>
  }
  %s = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %t = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %t, %sum#0 : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Here an iteration may read what the one before has written, so the looks are in one slice, in their order. A race
// does not depend on the order.
// INIT-LABEL: tt.func public @scan
// INIT: scf.for
// INIT-NOT: scf.if
// INIT: tt.store
// INIT-NOT: scf.if
// INIT: }
// INIT: scf.if
// INIT: scf.for
// INIT: isVolatile = true, sanitize.own
// INIT: isVolatile = true, sanitize.own
// INIT: tt.atomic_rmw or
// INIT: tt.return
// RACE-LABEL: tt.func public @scan
// RACE: scf.for
// RACE-NOT: scf.if
// RACE: tt.store
// RACE-NOT: scf.if
// RACE: }
// RACE: scf.if
// RACE: scf.for
// RACE: tt.atomic_rmw or
// RACE: tt.atomic_rmw or
// Without the static part, too; those for written memory then stay with their accesses.
// LANES-LABEL: tt.func public @scan
// LANES: scf.for
// LANES-NOT: scf.if
// LANES: tt.store
// LANES-NOT: scf.if
// LANES: }
// LANES: scf.if
// LANES: scf.for
// LANES: tt.atomic_rmw or
// LANES: tt.atomic_rmw or
// STAY-LABEL: tt.func public @scan
// STAY: scf.for
// STAY: isVolatile = true, sanitize.own
// STAY: tt.store
// STAY: tt.atomic_rmw or
// STAY: tt.return
tt.func public @scan(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    %v = tt.load %p : !tt.ptr<f32>
    %q = tt.addptr %y, %i : !tt.ptr<f32>, i32
    tt.store %q, %v : !tt.ptr<f32>
  }
  tt.return
}

// If one of the looks cannot be computed again, all stay in the loop.
// INIT-LABEL: tt.func public @chained
// INIT: scf.for
// INIT: tt.store
// INIT: scf.if
// INIT: scf.if
// INIT: scf.if
// INIT: tt.atomic_rmw or
// INIT-NOT: scf.for
// INIT: tt.return
tt.func public @chained(%x: !tt.ptr<f32>, %index: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %p = tt.addptr %index, %i : !tt.ptr<i32>, i32
    %j = tt.load %p : !tt.ptr<i32>
    %q = tt.addptr %x, %j : !tt.ptr<f32>, i32
    %v = tt.load %q : !tt.ptr<f32>
    %r = tt.addptr %x, %i : !tt.ptr<f32>, i32
    tt.store %r, %v : !tt.ptr<f32>
  }
  tt.return
}

// Another program may wait for the atomic addition, and then read what was stored: it is marked before that.
// INIT-LABEL: tt.func public @publish
// INIT: tt.store
// INIT: scf.if
// INIT: tt.atomic_rmw or
// INIT: tt.atomic_rmw add, acq_rel
tt.func public @publish(%x: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %v: f32, %n: i32) {
  tt.store %x, %v : !tt.ptr<f32>
  %w = tt.atomic_rmw add, acq_rel, gpu, %flag, %n : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// A program that reads a volatile flag may wait for the second store.
// INIT-LABEL: tt.func public @flag
// INIT: scf.if
// INIT: tt.atomic_rmw or
// INIT: tt.store %{{.*}} : !tt.ptr<f32>
// INIT: scf.if
// INIT: tt.atomic_rmw or
// INIT: tt.store %{{.*}} : !tt.ptr<i32>
tt.func public @flag(%x: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %v: f32) {
  %w = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
  tt.store %x, %v : !tt.ptr<f32>
  tt.store %flag, %w : !tt.ptr<i32>
  tt.return
}
