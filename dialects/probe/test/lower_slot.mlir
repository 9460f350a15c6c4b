// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe | FileCheck %s --check-prefix=OFF
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -inline -triton-ext-lower-probe="emit=true" -canonicalize | FileCheck %s

// Without a session a word is 0.
// OFF-LABEL: tt.func private @helper
// OFF: tt.return %c0_i64
// OFF-LABEL: tt.func public @check

// The pointer leads to the slot; its stride tells the host that the kernel wants one. What is loaded depends on the
// slot's first word, and a word that nothing uses is not loaded.
// CHECK-LABEL: tt.func public @words
// CHECK: %[[OWN:.*]] = ttg.global_scratch_alloc {alignment = 2048 : i32, nbytes = 2048 : i32, third_party_allocation}
// CHECK: arith.muli %{{.*}}, %c-2048_i64
// CHECK: %[[SLOT:.*]] = tt.bitcast
// CHECK: %[[MAGIC:.*]] = tt.load %[[SLOT]]
// CHECK: %[[HAS_SLOT:.*]] = arith.cmpi eq, %[[MAGIC]]
// CHECK: %[[PLACE:.*]] = tt.addptr %[[SLOT]], %c9_i64
// CHECK: %[[WORD:.*]] = tt.load %[[PLACE]], %[[HAS_SLOT]], %c0_i64
// CHECK: tt.store %arg0, %[[WORD]]
// CHECK-NEXT: tt.return
tt.func private @helper() -> i64 attributes {noinline = true} {
  %w = probe.launch_word 9 : i64
  tt.return %w : i64
}
tt.func public @words(%p: !tt.ptr<i64>) {
  %w = tt.call @helper() : () -> i64
  %unused = probe.launch_word 8 : i64
  tt.store %p, %w : !tt.ptr<i64>
  tt.return
}

// A check with a note has its counters in the slot, and finds the session's buffer behind it where it stands, not at the
// kernel's start; so what comes first is of the kernel. It counts lanes and runs, asks for room, and writes tag, program,
// lane and one value, in a branch, so that nothing but the room needs a mask.
// CHECK-LABEL: tt.func public @check
// CHECK: %[[SLOT:.*]] = tt.bitcast
// CHECK: %[[HAS_SLOT:.*]] = arith.cmpi eq
// CHECK-NOT: tt.int_to_ptr
// CHECK: %[[OUT_THERE:.*]] = arith.andi %{{.*}}, %[[HAS_SLOT]]
// CHECK: scf.if %[[OUT_THERE]] {
// CHECK: %[[COUNT:.*]] = tt.addptr %[[SLOT]], %c16_i64
// CHECK: tt.atomic_rmw add, relaxed, gpu, %[[COUNT]], %c1_i64, %true
// CHECK: %[[RUNS:.*]] = tt.addptr %[[COUNT]], %c2_i64
// CHECK: tt.atomic_rmw add, relaxed, gpu, %[[RUNS]], %c1_i64, %true
// CHECK: %[[PLACE:.*]] = tt.addptr %[[SLOT]], %c1_i64
// CHECK: %[[ADDRESS:.*]] = tt.load %[[PLACE]], %[[HAS_SLOT]], %c0_i64
// CHECK: %[[BUFFER:.*]] = tt.int_to_ptr %[[ADDRESS]]
// CHECK: %[[CURSOR:.*]] = tt.addptr %[[BUFFER]], %c2_i64
// CHECK: tt.atomic_rmw add, relaxed, gpu, %[[CURSOR]], %c4_i64
// CHECK-NOT: tt.atomic_rmw
// CHECK-COUNT-4: tt.store %{{.*}} : !tt.ptr<i64>
// CHECK-NOT: tt.store
tt.func public @check(%p: !tt.ptr<f32>) {
  %end = probe.launch_word 9 : i64
  %address = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %out = arith.cmpi sge, %address, %end : i64
  scf.if %out {
    %false = arith.constant false
    probe.check %false, "c"(%address : i64) {probe.note = "{}"} : i1
  }
  tt.return
}

// Other probes of such a kernel share the way to the buffer at its start.
// CHECK-LABEL: tt.func public @both
// CHECK: tt.int_to_ptr
// CHECK: scf.while
// CHECK: scf.if
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %c1_i64
tt.func public @both(%p: !tt.ptr<i64>, %out: i1) {
  %end = probe.launch_word 9 : i64
  tt.store %p, %end : !tt.ptr<i64>
  scf.if %out {
    %false = arith.constant false
    probe.check %false, "c" {probe.note = "{}"} : i1
  }
  probe.count "programs"
  tt.return
}

// Two checks with a note and the same values, one behind the other, share one piece of code, which runs once for each.
// The third one has another value.
// CHECK-LABEL: tt.func public @pair
// CHECK: %[[SLOT:.*]] = tt.bitcast
// CHECK: %[[HAS_SLOT:.*]] = arith.cmpi eq
// CHECK: %[[END:.*]] = arith.select %[[HAS_SLOT]], %c2_i32, %c0_i32
// CHECK: scf.for %[[KIND:.*]] = %c0_i32 to %[[END]] step %c1_i32
// CHECK: %[[IS_SECOND:.*]] = arith.cmpi ne, %[[KIND]], %c0_i32
// CHECK: %[[FINE:.*]] = arith.select %[[IS_SECOND]], %arg2, %arg1
// CHECK: %[[WIDE:.*]] = arith.extui %[[KIND]]
// CHECK: %[[COUNT:.*]] = tt.addptr %[[SLOT]], %c32_i64
// CHECK: %[[OFFSET:.*]] = arith.muli %[[WIDE]], %c4_i64
// CHECK: %[[OWN:.*]] = tt.addptr %[[COUNT]], %[[OFFSET]]
// CHECK: tt.atomic_rmw add, relaxed, gpu, %[[OWN]], %c1_i64
// CHECK: %[[TAG:.*]] = arith.addi %[[WIDE]], %c{{.*}}_i64
// CHECK: tt.store %{{.*}}, %[[TAG]]
// CHECK: }
// CHECK-NOT: scf.for
// CHECK: tt.addptr %[[SLOT]], %c40_i64
// CHECK: tt.atomic_rmw
// CHECK: tt.return
tt.func public @pair(%p: !tt.ptr<i64>, %a: i1, %b: i1) {
  %end = probe.launch_word 9 : i64
  %x = arith.constant 7 : i64
  %y = arith.constant 8 : i64
  probe.check %a, "a"(%x : i64) {probe.note = "{}"} : i1
  probe.check %b, "b"(%x : i64) {probe.note = "{}"} : i1
  probe.check %b, "c"(%y : i64) {probe.note = "{}"} : i1
  tt.store %p, %end : !tt.ptr<i64>
  tt.return
}

// Two checks share their code: the number of the check says where the counters are, and which tag the record has. A word
// without a slot is what it says.
// CHECK-LABEL: tt.func public @failures
// CHECK-SAME: %{{.*}}: !tt.ptr<f32>, %[[SITE:.*]]: i32, %[[FAILED:.*]]: i64, %[[LANE:.*]]: i32
// CHECK: %[[SLOT:.*]] = tt.bitcast
// CHECK: %[[HAS_SLOT:.*]] = arith.cmpi eq
// CHECK: tt.addptr %{{.*}}, %[[FAILED]]
// CHECK: tt.load %{{.*}}, %[[HAS_SLOT]], %c-1_i64
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[FAILED]], %c0_i64
// CHECK: %[[NUMBER:.*]] = arith.extui %[[SITE]]
// CHECK: %[[WIDE:.*]] = arith.extui %[[LANE]]
// CHECK: %[[WANTED:.*]] = arith.andi %[[ANY]], %[[HAS_SLOT]]
// CHECK: scf.if %[[WANTED]] {
// CHECK: %[[OFFSET:.*]] = arith.muli %[[NUMBER]], %c4_i64
// CHECK: %[[COUNTERS:.*]] = tt.addptr %{{.*}}, %[[OFFSET]]
// CHECK: tt.atomic_rmw add, relaxed, gpu, %[[COUNTERS]], %[[FAILED]]
// CHECK: %[[RUNS:.*]] = tt.addptr %[[COUNTERS]], %c2_i64
// CHECK: tt.atomic_rmw add, relaxed, gpu, %[[RUNS]], %c1_i64
// CHECK: arith.addi %[[NUMBER]], %c
// CHECK: arith.shli %[[WIDE]], %c32_i64
// CHECK-COUNT-4: tt.store %{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<i64>
// CHECK: }
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.return
// OFF-LABEL: tt.func public @failures
// OFF-NEXT: %c-1_i64 = arith.constant -1 : i64
// OFF-NEXT: tt.store %{{.*}}, %c-1_i64
// OFF-NEXT: tt.return
tt.func public @failures(%p: !tt.ptr<f32>, %site: i32, %failed: i64, %lane: i32, %out: !tt.ptr<i64>) {
  %word = probe.launch_word 8 + %failed {otherwise = -1 : i64} : i64
  probe.failures %site, %failed, %lane (%word : i64) messages ["a", "b"] notes ["{}", "{}"] places [loc("a.py":1:2), loc("a.py":3:4)]
  tt.store %out, %word : !tt.ptr<i64>
  tt.return
}
