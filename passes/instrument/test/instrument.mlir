// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-instrument="bytes=true calls=true" | FileCheck %s --check-prefix=OFF
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-instrument="bytes=true" | FileCheck %s --check-prefix=BYTES
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-instrument="bytes=true calls=true masked=true" -mlir-print-debuginfo | FileCheck %s --check-prefix=MASKED
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-instrument="loops=true regions=true" | FileCheck %s --check-prefix=LOOPS
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-instrument="nan=true" | FileCheck %s --check-prefix=NAN
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-instrument="bytes=true calls=true loops=true nan=true" -triton-ext-lower-probe="emit=true" | FileCheck %s --check-prefix=LOWERED

// Without the mark of a session, the module stays as it is.
// OFF-NOT: probe.

// The numbers of the inserted probes are in the table of sites.
// LOWERED: probe.sites = "
// LOWERED-SAME: \22rules\22:\22loaded\22
// LOWERED-SAME: \22weight\22:4
// LOWERED-NOT: probe.count

// Each count of a masked load is a lane; of one without a mask it is all of them.
// BYTES-LABEL: tt.func public @memory
// BYTES: probe.count "loaded" mask(%arg1 : tensor<128xi1>) {probe.rules = "loaded", probe.weight = 4 : i64}
// BYTES-NEXT: tt.load
// BYTES-NEXT: probe.count "stored" {probe.rules = "stored", probe.weight = 512 : i64}
// BYTES-NEXT: tt.store
// BYTES-NEXT: probe.count "loaded" mask(%{{.*}} : i1) {probe.rules = "loaded", probe.weight = 8 : i64}
// BYTES-NEXT: tt.load
// BYTES-NEXT: probe.count "atomic" mask(%arg1 : tensor<128xi1>) {probe.rules = "atomic", probe.weight = 4 : i64}
// BYTES-NEXT: tt.atomic_rmw
// BYTES-NEXT: probe.count "atomic" {probe.rules = "atomic", probe.weight = 4 : i64}
// BYTES-NEXT: tt.atomic_cas
// BYTES-NOT: probe.
// BYTES: tt.return

// MASKED-LABEL: tt.func public @memory
// MASKED-NEXT: probe.count "programs" {probe.rules = "programs"}
// MASKED: probe.count "loaded on" mask(%arg1 : tensor<128xi1>) {probe.lanes = 1 : i64, probe.rules = "loaded on", probe.weight = 4 : i64} loc(#[[LOAD:.*]])
// MASKED-NEXT: probe.count "calls" {probe.lanes = 128 : i64, probe.rules = "calls"} loc(#[[LOAD]])
// MASKED-NEXT: tt.load {{.*}} loc(#[[LOAD]])
// MASKED-NEXT: probe.count "stored on calls" {probe.lanes = 128 : i64, probe.rules = "stored on calls", probe.weight = 512 : i64}
tt.func public @memory(%p: tensor<128x!tt.ptr<f32>>, %m: tensor<128xi1>, %q: !tt.ptr<f64>, %b: i1,
                       %r: !tt.ptr<i32>) {
  %one = arith.constant 1 : i32
  %v = tt.load %p, %m : tensor<128x!tt.ptr<f32>>
  tt.store %p, %v : tensor<128x!tt.ptr<f32>>
  %w = tt.load %q, %b : !tt.ptr<f64>
  %a = tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %m : (tensor<128x!tt.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>
  %c = tt.atomic_cas relaxed, gpu, %r, %one, %one : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// Of a mask that repeats that of a row, only the row is counted.
// BYTES-LABEL: tt.func public @rows
// BYTES-SAME: %[[P:.*]]: tensor<8x16x!tt.ptr<f16>>, %[[ROW:.*]]: tensor<16xi1>, %[[ALL:.*]]: i1
// BYTES: probe.count "loaded" mask(%[[ROW]] : tensor<16xi1>) {probe.rules = "loaded", probe.weight = 16 : i64}
// BYTES-NEXT: tt.load
// BYTES: probe.count "stored" mask(%[[ALL]] : i1) {probe.rules = "stored", probe.weight = 256 : i64}
// BYTES-NEXT: tt.store
// MASKED-LABEL: tt.func public @rows
// MASKED: probe.count "loaded on" mask({{.*}}) {probe.lanes = 8 : i64, probe.rules = "loaded on", probe.weight = 16 : i64}
// MASKED-NEXT: probe.count "calls" {probe.lanes = 128 : i64, probe.rules = "calls"}
tt.func public @rows(%p: tensor<8x16x!tt.ptr<f16>>, %row: tensor<16xi1>, %all: i1) {
  %one = tt.expand_dims %row {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
  %m = tt.broadcast %one : tensor<1x16xi1> -> tensor<8x16xi1>
  %v = tt.load %p, %m : tensor<8x16x!tt.ptr<f16>>
  %n = tt.splat %all : i1 -> tensor<8x16xi1>
  tt.store %p, %v, %n : tensor<8x16x!tt.ptr<f16>>
  tt.return
}

// A load from a descriptor counts the bytes of its box. A load in a function that is marked noinline is counted, too.
// BYTES-LABEL: tt.func public @descriptors
// BYTES: probe.count "loaded" {probe.rules = "loaded", probe.weight = 1024 : i64}
// BYTES-NEXT: tt.descriptor_load
// BYTES-NEXT: probe.count "stored" {probe.rules = "stored", probe.weight = 1024 : i64}
// BYTES-NEXT: tt.descriptor_store
// BYTES-NEXT: probe.count "atomic" {probe.rules = "atomic", probe.weight = 1024 : i64}
// BYTES-NEXT: tt.descriptor_reduce
// BYTES-NEXT: probe.count "loaded" {probe.rules = "loaded", probe.weight = 1 : i64}
// BYTES-NEXT: tt.load
// BYTES-NOT: @helper
tt.func public @descriptors(%d: !tt.tensordesc<16x32xf16>, %p: !tt.ptr<i8>) {
  %c0 = arith.constant 0 : i32
  %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  tt.descriptor_store %d[%c0, %c0], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  tt.descriptor_reduce add, %d[%c0, %c0], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  %x = tt.call @helper(%p) : (!tt.ptr<i8>) -> i8
  tt.return
}
tt.func private @helper(%p: !tt.ptr<i8>) -> i8 attributes {noinline = true} {
  %x = tt.load %p : !tt.ptr<i8>
  tt.return %x : i8
}

// The iterations of an scf.for are known before it begins, those of an scf.while are counted.
// LOOPS-LABEL: tt.func public @loops
// LOOPS: %[[FROM:.*]] = arith.extsi %arg0 : i32 to i64
// LOOPS: %[[TO:.*]] = arith.extsi %arg1 : i32 to i64
// LOOPS: %[[STEP:.*]] = arith.extsi %arg2 : i32 to i64
// LOOPS: %[[POSITIVE:.*]] = arith.maxui %[[STEP]]
// LOOPS: %[[DISTANCE:.*]] = arith.subi %[[TO]], %[[FROM]]
// LOOPS: %[[BEFORE:.*]] = arith.subi %[[DISTANCE]]
// LOOPS: %[[WHOLE:.*]] = arith.divui %[[BEFORE]], %[[POSITIVE]]
// LOOPS: %[[SOME:.*]] = arith.addi %[[WHOLE]]
// LOOPS: arith.cmpi slt, %[[FROM]], %[[TO]]
// LOOPS: %[[TRIPS:.*]] = arith.select %{{.*}}, %[[SOME]]
// LOOPS: probe.stats "iterations"(%[[TRIPS]] : i64) {probe.rules = "loops"}
// LOOPS-NEXT: %[[REGION:.*]] = probe.region_begin "scf.for" {probe.rules = "time"}
// LOOPS-NEXT: scf.for
// LOOPS-NOT: probe.
// LOOPS: probe.region_end %[[REGION]]
// LOOPS-NEXT: probe.count "loops" {probe.rules = "loops"}
// LOOPS-NEXT: probe.region_begin "scf.while"
// LOOPS-NEXT: scf.while
// LOOPS: } do {
// LOOPS: probe.count "iterations" {probe.rules = "iterations"}
tt.func public @loops(%from: i32, %to: i32, %step: i32, %p: !tt.ptr<i32>) {
  scf.for %i = %from to %to step %step : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  scf.while (%i = %from) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %to : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %n = arith.addi %i, %step : i32
    scf.yield %n : i32
  }
  tt.return
}

// The argument from which a load has a NaN: through a loop and changes of shape; none for an address that is loaded.
// NAN-LABEL: tt.func public @arguments
// NAN: scf.for
// NAN: probe.check {{.*}}"NaN from tt.load"{{.*}} {probe.argument = 1 : i64, probe.rules = "nans"}
// NAN: probe.check {{.*}}"NaN from tt.descriptor_load"{{.*}} {probe.argument = 2 : i64, probe.rules = "nans"}
// NAN: probe.check {{.*}}"NaN from tt.load"{{.*}} {probe.rules = "nans"}
tt.func public @arguments(%n: i32, %p: !tt.ptr<f32>, %d: !tt.ptr<f32>, %q: !tt.ptr<i64>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %first = tt.addptr %s, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %last = scf.for %k = %c0 to %n step %c1 iter_args(%at = %first) -> (tensor<16x!tt.ptr<f32>>) : i32 {
    %column = tt.expand_dims %at {axis = 1 : i32} : tensor<16x!tt.ptr<f32>> -> tensor<16x1x!tt.ptr<f32>>
    %x = tt.load %column : tensor<16x1x!tt.ptr<f32>>
    %next = tt.addptr %at, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %next : tensor<16x!tt.ptr<f32>>
  }
  %desc = tt.make_tensor_descriptor %d, [%n], [%one] : !tt.ptr<f32>, !tt.tensordesc<16xf32>
  %y = tt.descriptor_load %desc[%c0] : !tt.tensordesc<16xf32> -> tensor<16xf32>
  %bits = tt.load %q : !tt.ptr<i64>
  %there = tt.int_to_ptr %bits : i64 -> !tt.ptr<f32>
  %z = tt.load %there : !tt.ptr<f32>
  tt.return
}

// Turns of the loop swap the pointers, so a load of the first one reads from both arguments.
// NAN-LABEL: tt.func public @swapped
// NAN: probe.check {{.*}}"NaN from tt.load"{{.*}} {probe.rules = "nans"}
tt.func public @swapped(%n: i32, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
    %x = tt.load %a : !tt.ptr<f32>
    scf.yield %b, %a : !tt.ptr<f32>, !tt.ptr<f32>
  }
  tt.return
}

// Loads in the lanes that are on, and operations that can make a NaN; none in the body of a reduction.
// NAN-LABEL: tt.func public @nan
// NAN: %[[X:.*]] = tt.load
// NAN-NEXT: %[[IS_NUMBER:.*]] = arith.cmpf ord, %[[X]], %[[X]]
// NAN-NEXT: probe.check %[[IS_NUMBER]], "NaN from tt.load"(%[[X]] : tensor<16xf32>) mask(%arg1 : tensor<16xi1>) {probe.argument = 0 : i64, probe.rules = "nans"}
// NAN-NEXT: %[[NEGATED:.*]] = arith.negf
// NAN-NEXT: %[[Q:.*]] = arith.divf
// NAN-NEXT: arith.cmpf ord, %[[Q]], %[[Q]]
// NAN-NEXT: probe.check %{{.*}}, "NaN from arith.divf"(%[[Q]] : tensor<16xf32>)
// NAN-NEXT: %[[SUM:.*]] = "tt.reduce"
// NAN-NOT: probe.
// NAN: })
// NAN-NEXT: arith.cmpf ord, %[[SUM]], %[[SUM]]
// NAN-NEXT: probe.check %{{.*}}, "NaN from tt.reduce"(%[[SUM]] : f32) {probe.rules = "nans"} : i1
// NAN-NOT: probe.
// NAN: tt.return
tt.func public @nan(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>) {
  %x = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  %y = arith.negf %x : tensor<16xf32>
  %q = arith.divf %x, %y : tensor<16xf32>
  %s = "tt.reduce"(%q) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<16xf32>) -> f32
  %t = tt.splat %s : f32 -> tensor<16xf32>
  tt.return
}
