// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe | FileCheck %s --check-prefix=OFF
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-lower-probe | FileCheck %s --check-prefix=KEPT
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -inline -triton-ext-lower-probe="emit=true" -canonicalize | FileCheck %s
// With two sessions, the last emit lowers.
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-lower-probe="keep=true" -triton-ext-lower-probe="emit=true" | FileCheck %s --check-prefix=KEPT
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-lower-probe="keep=true" -inline -triton-ext-lower-probe="emit=true" -triton-ext-lower-probe="emit=true" -canonicalize | FileCheck %s

// Without a session, the operations go with what only they use.
// OFF-LABEL: tt.func private @helper
// OFF-SAME: noinline
// OFF-NEXT: tt.return
// OFF-LABEL: tt.func public @count
// OFF-NEXT: tt.call
// OFF-NEXT: tt.return
// OFF-LABEL: tt.func public @record
// OFF-NEXT: tt.return
// OFF-LABEL: tt.func public @check
// OFF-NEXT: tt.return
// OFF-LABEL: tt.func public @minmax
// OFF-NEXT: tt.return
// OFF-LABEL: tt.func public @stats
// OFF-NEXT: tt.return
// OFF-LABEL: tt.func public @histogram
// OFF-NEXT: tt.return
// OFF-LABEL: tt.func public @promise
// OFF-NEXT: tt.return

// Kept operations stay, and their functions are inlined.
// KEPT: module attributes {probe.kept = 1 : i64}
// KEPT-LABEL: tt.func private @helper
// KEPT-NOT: noinline
// KEPT: probe.count "helper"
// KEPT: probe.check

// CHECK: module attributes {probe.lowered, probe.sites = "{\22kernel\22:
// CHECK-NOT: @helper
tt.func private @helper() attributes {noinline = true} {
  probe.count "helper"
  tt.return
}

// The pointer of the program becomes that of the buffer, whose first word is compared.
// CHECK-LABEL: tt.func public @count
// CHECK: %[[OWN:.*]] = ttg.global_scratch_alloc {alignment = 1024 : i32, nbytes = 1024 : i32, third_party_allocation}
// CHECK: %[[BACK:.*]] = arith.muli %{{.*}}, %c-1024_i64
// CHECK: %[[BYTES:.*]] = tt.addptr %[[OWN]], %[[BACK]]
// CHECK: %[[BASE:.*]] = tt.bitcast %[[BYTES]]
// CHECK: %[[MAGIC:.*]] = tt.load %[[BASE]]
// CHECK: %[[IS_THERE:.*]] = arith.cmpi eq, %[[MAGIC]]
// The counters of the kernel are found or taken.
// CHECK: scf.if %[[IS_THERE]]
// CHECK: scf.while
// CHECK: tt.atomic_cas relaxed, gpu
// CHECK: else
// Each program counts 1, then its active lanes.
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %c1_i64, %[[IS_THERE]]
// CHECK: %[[LANES:.*]] = "tt.reduce"
// CHECK: %[[WIDE:.*]] = arith.extui %[[LANES]] : i32 to i64
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %[[WIDE]], %[[IS_THERE]]
// CHECK-NOT: tt.atomic_rmw
tt.func public @count(%m: tensor<8xi1>) {
  tt.call @helper() : () -> ()
  probe.count "lanes" mask(%m : tensor<8xi1>)
  tt.return
}

// The low bits of the program's number say which shard is its own: the offset of the shard, and its cursor.
// CHECK-LABEL: tt.func public @record
// CHECK: %[[HEADER:.*]] = tt.addptr %[[BASE:.*]], %c6_i64
// CHECK: %[[WORDS:.*]] = tt.load %[[HEADER]]
// CHECK: %[[POOL:.*]] = arith.muli %[[WORDS]], %c64_i64
// CHECK: %[[NUMBER:.*]] = arith.andi %{{.*}}, %c63_i64
// CHECK: %[[SHARD:.*]] = arith.muli %[[NUMBER]], %[[WORDS]]
// CHECK: %[[LINE:.*]] = arith.muli %[[NUMBER]], %c16_i64
// CHECK: %[[PLACE:.*]] = arith.addi %[[LINE]], %c16_i64
// CHECK: %[[CURSOR:.*]] = tt.addptr %[[BASE]], %[[PLACE]]
// Lanes ask for room together: in the shard if there are shards, and if it has no room, in the pool.
// CHECK: "tt.reduce"
// CHECK: "tt.scan"
// CHECK: %[[NEEDED:.*]] = arith.muli %{{.*}}, %c5_i64
// CHECK: %[[HAS_SHARDS:.*]] = arith.cmpi sgt, %[[WORDS]], %c0_i64
// CHECK: %[[TRIES:.*]] = arith.andi %{{.*}}, %[[HAS_SHARDS]]
// CHECK: %[[OLD:.*]] = tt.atomic_rmw add, relaxed, gpu, %[[CURSOR]], %[[NEEDED]], %[[TRIES]]
// CHECK: %[[START:.*]] = arith.select %[[TRIES]], %[[OLD]], %[[WORDS]]
// CHECK: %[[END:.*]] = arith.addi %[[START]], %[[NEEDED]]
// CHECK: %[[IS_FULL:.*]] = arith.cmpi sgt, %[[END]], %[[WORDS]]
// CHECK: %[[ASKS_POOL:.*]] = arith.andi %{{.*}}, %[[IS_FULL]]
// CHECK: %[[ROOM:.*]] = scf.if %[[ASKS_POOL]] -> (i64) {
// CHECK: %[[ALL:.*]] = tt.addptr %[[BASE]], %c2_i64
// CHECK: %[[ASKED:.*]] = tt.atomic_rmw add, relaxed, gpu, %[[ALL]], %[[NEEDED]]
// CHECK: %[[BEHIND:.*]] = arith.select %{{.*}}, %[[ASKED]], %c0_i64
// CHECK: arith.addi %[[POOL]], %[[BEHIND]]
// CHECK: } else {
// CHECK-NOT: tt.atomic_rmw
// CHECK: arith.addi %[[SHARD]], %[[START]]
// Each one writes its words if they fit: tag, program, lane, two values.
// CHECK: tt.splat %[[ROOM]]
// CHECK: %[[FITS:.*]] = arith.cmpi sle
// CHECK: %[[AND:.*]] = arith.andi %[[FITS]], %arg1
// CHECK: %[[MASK:.*]] = arith.andi %[[AND]]
// CHECK-COUNT-5: tt.store %{{.*}}, %{{.*}}, %[[MASK]] : tensor<8x!tt.ptr<i64>>
// CHECK-NOT: tt.store
// CHECK: tt.atomic_rmw add, relaxed, gpu
tt.func public @record(%v: tensor<8xf32>, %m: tensor<8xi1>) {
  %c = arith.constant 7 : i32
  probe.record "r"(%v, %c : tensor<8xf32>, i32) mask(%m : tensor<8xi1>)
  tt.return
}

// Failures are counted, and the first 16 recorded.
// CHECK-LABEL: tt.func public @check
// CHECK: %[[FAILS:.*]] = arith.xori %arg1
// CHECK: %[[COUNT:.*]] = arith.extui %[[FAILS]] : i1 to i64
// CHECK: %[[OLD:.*]] = tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %[[COUNT]]
// CHECK: arith.subi %c16_i64
// The room is in the pool, where they are in order.
// CHECK-NOT: scf.if
// CHECK: %[[CURSOR:.*]] = tt.addptr %{{.*}}, %c2_i64
// CHECK-NEXT: tt.atomic_rmw add, relaxed, gpu, %[[CURSOR]]
// CHECK-COUNT-4: tt.store %{{.*}} : !tt.ptr<i64>
// CHECK: tt.atomic_rmw add, relaxed, gpu
tt.func public @check(%p: !tt.ptr<f32>, %c: i1) {
  probe.check %c, "c"(%p : !tt.ptr<f32>) : i1
  tt.return
}

// Zero is below every key: it stands for lanes that are off, and for NaNs.
// CHECK-LABEL: tt.func public @minmax
// CHECK: %[[WIDE:.*]] = arith.extf %arg0
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[WIDE]], %[[WIDE]]
// CHECK: arith.xori %[[NAN]]
// CHECK: %[[BITS:.*]] = tt.bitcast %[[WIDE]]
// CHECK: %[[KEY:.*]] = arith.xori %[[BITS]]
// CHECK: %[[INVERTED:.*]] = arith.xori %[[KEY]]
// CHECK: arith.select %{{.*}}, %[[KEY]]
// CHECK: arith.maxui
// CHECK: tt.atomic_rmw umax
// CHECK: arith.select %{{.*}}, %[[INVERTED]]
// CHECK: tt.atomic_rmw umax
tt.func public @minmax(%v: tensor<8xf32>, %m: tensor<8xi1>) {
  probe.minmax "x"(%v : tensor<8xf32>) mask(%m : tensor<8xi1>)
  tt.return
}

// CHECK-LABEL: tt.func public @stats
// CHECK: %[[NUMBER:.*]] = arith.sitofp %arg0 : i32 to f64
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[NUMBER]], %[[NUMBER]]
// CHECK: tt.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %[[NUMBER]]
// CHECK: tt.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %[[SQUARE]]
tt.func public @stats(%i: i32) {
  probe.stats "x"(%i : i32)
  tt.return
}

// The edges decide: a product that is rounded by itself, and a sum.
// CHECK-LABEL: tt.func public @histogram
// CHECK: %[[ESTIMATE:.*]] = arith.fptosi
// CHECK: math.fma
// CHECK: math.fma
// CHECK: %[[COUNTS:.*]] = tt.histogram %{{.*}}, %{{.*}} : tensor<8xi32> -> tensor<16xi32>
// CHECK: %[[WIDE:.*]] = arith.extui %[[COUNTS]]
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %[[WIDE]]
tt.func public @histogram(%v: tensor<8xf32>) {
  probe.histogram "x"(%v : tensor<8xf32>) {bins = 10 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
  tt.return
}

// A promise that no pass has checked is nothing.
// CHECK-LABEL: tt.func public @promise
// CHECK-NEXT: tt.return
tt.func public @promise(%n: i32) {
  probe.promise "tt.divisibility" [16] %n : i32
  tt.return
}
