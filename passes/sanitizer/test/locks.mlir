// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race" | FileCheck %s

// What is between the loop that takes a lock and the operation that sets it free is under the lock. The lock's own
// accesses, and what comes before and behind them, are not.
// CHECK: sanitize.shadows
// CHECK-SAME: \22set\22:\22load\22
// CHECK-SAME: \22set\22:\22atomic\22
// CHECK-SAME: \22set\22:\22locked load\22
// CHECK-SAME: \22set\22:\22locked store\22
// CHECK-SAME: \22set\22:\22atomic\22
// CHECK-SAME: \22set\22:\22store\22
// CHECK-SAME: \22kernel\22:\22turns\22
// CHECK-SAME: \22set\22:\22locked store\22
// CHECK-SAME: \22kernel\22:\22carried\22
// CHECK-NOT: locked
// CHECK-LABEL: tt.func public @turns

// The number of the lock is that of its address, which is computed before the loop, too.
// CHECK-SAME: (%{{.*}}, %[[LOCKS:.*]]: !tt.ptr<i32>, %[[SLOT:.*]]: i32)
// CHECK: %[[LOCK:.*]] = tt.addptr %[[LOCKS]], %[[SLOT]]
// CHECK: scf.while
// CHECK: tt.ptr_to_int %[[LOCK]]
tt.func public @turns(%x: !tt.ptr<f32>, %locks: !tt.ptr<i32>, %slot: i32) {
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %true = arith.constant true
  %before = tt.load %x : !tt.ptr<f32>
  scf.while : () -> () {
    %lock = tt.addptr %locks, %slot : !tt.ptr<i32>, i32
    %old = tt.atomic_cas acq_rel, gpu, %lock, %free, %taken : (!tt.ptr<i32>, i32, i32) -> i32
    %is_taken = arith.cmpi eq, %old, %taken : i32
    scf.condition(%is_taken)
  } do {
    scf.yield
  }
  %v = tt.load %x : !tt.ptr<f32>
  %sum = arith.addf %v, %before : f32
  tt.store %x, %sum : !tt.ptr<f32>
  %same = tt.addptr %locks, %slot : !tt.ptr<i32>, i32
  %was = tt.atomic_rmw exch, acq_rel, gpu, %same, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.store %x, %v : !tt.ptr<f32>
  tt.return
}

// The loop carries what it has found.
tt.func public @carried(%x: !tt.ptr<f32>, %lock: !tt.ptr<i32>, %v: f32) {
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %true = arith.constant true
  %first = tt.atomic_rmw exch, acquire, gpu, %lock, %taken, %true : (!tt.ptr<i32>, i32, i1) -> i32
  scf.while (%old = %first) : (i32) -> () {
    %is_taken = arith.cmpi ne, %old, %free : i32
    scf.condition(%is_taken)
  } do {
    %next = tt.atomic_rmw exch, acquire, gpu, %lock, %taken, %true : (!tt.ptr<i32>, i32, i1) -> i32
    scf.yield %next : i32
  }
  tt.store %x, %v : !tt.ptr<f32>
  %was = tt.atomic_cas release, gpu, %lock, %taken, %free : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// Another element is set free.
tt.func public @other_lock(%x: !tt.ptr<f32>, %locks: !tt.ptr<i32>, %v: f32, %slot: i32) {
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %true = arith.constant true
  scf.while : () -> () {
    %old = tt.atomic_cas acq_rel, gpu, %locks, %free, %taken : (!tt.ptr<i32>, i32, i32) -> i32
    %is_taken = arith.cmpi eq, %old, %taken : i32
    scf.condition(%is_taken)
  } do {
    scf.yield
  }
  tt.store %x, %v : !tt.ptr<f32>
  %other = tt.addptr %locks, %slot : !tt.ptr<i32>, i32
  %was = tt.atomic_rmw exch, acq_rel, gpu, %other, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// Relaxed operations do not order other accesses.
tt.func public @relaxed(%x: !tt.ptr<f32>, %lock: !tt.ptr<i32>, %v: f32) {
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %true = arith.constant true
  scf.while : () -> () {
    %old = tt.atomic_cas relaxed, gpu, %lock, %free, %taken : (!tt.ptr<i32>, i32, i32) -> i32
    %is_taken = arith.cmpi eq, %old, %taken : i32
    scf.condition(%is_taken)
  } do {
    scf.yield
  }
  tt.store %x, %v : !tt.ptr<f32>
  %was = tt.atomic_rmw exch, acq_rel, gpu, %lock, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// The loop ends while the lock is taken.
tt.func public @wrong_way(%x: !tt.ptr<f32>, %lock: !tt.ptr<i32>, %v: f32) {
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %true = arith.constant true
  scf.while : () -> () {
    %old = tt.atomic_cas acq_rel, gpu, %lock, %free, %taken : (!tt.ptr<i32>, i32, i32) -> i32
    %is_free = arith.cmpi eq, %old, %free : i32
    scf.condition(%is_free)
  } do {
    scf.yield
  }
  tt.store %x, %v : !tt.ptr<f32>
  %was = tt.atomic_rmw exch, acq_rel, gpu, %lock, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// In a branch, the lock may be free before the store.
tt.func public @free_in_a_branch(%x: !tt.ptr<f32>, %lock: !tt.ptr<i32>, %v: f32, %is_early: i1) {
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %true = arith.constant true
  scf.while : () -> () {
    %old = tt.atomic_cas acq_rel, gpu, %lock, %free, %taken : (!tt.ptr<i32>, i32, i32) -> i32
    %is_taken = arith.cmpi eq, %old, %taken : i32
    scf.condition(%is_taken)
  } do {
    scf.yield
  }
  scf.if %is_early {
    %early = tt.atomic_rmw exch, acq_rel, gpu, %lock, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  }
  tt.store %x, %v : !tt.ptr<f32>
  %was = tt.atomic_rmw exch, acq_rel, gpu, %lock, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// These operations order what one program does.
tt.func public @of_one_program(%x: !tt.ptr<f32>, %lock: !tt.ptr<i32>, %v: f32) {
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %true = arith.constant true
  scf.while : () -> () {
    %old = tt.atomic_cas acq_rel, cta, %lock, %free, %taken : (!tt.ptr<i32>, i32, i32) -> i32
    %is_taken = arith.cmpi eq, %old, %taken : i32
    scf.condition(%is_taken)
  } do {
    scf.yield
  }
  tt.store %x, %v : !tt.ptr<f32>
  %was = tt.atomic_rmw exch, acq_rel, cta, %lock, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}
