// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-sanitizer="checks=race" | FileCheck %s

// An access before a signal and one behind a wait have no look; a store that nothing orders is compared with both.
// CHECK: sanitize.shadows
// CHECK-SAME: \22set\22:\22signalled store\22
// CHECK-SAME: \22set\22:\22waiting store\22
// CHECK-SAME: \22kernel\22:\22polls\22
// CHECK-NOT: \22waiting load\22
// CHECK-LABEL: tt.func public @polls
tt.func public @polls(%x: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %v: f32) {
  %one = arith.constant 1 : i32
  %true = arith.constant true
  tt.store %x, %v : !tt.ptr<f32>
  %was = tt.atomic_rmw exch, release, gpu, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %old = tt.atomic_rmw add, acquire, gpu, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %is_last = arith.cmpi eq, %old, %one : i32
  scf.if %is_last {
    %w = tt.load %x : !tt.ptr<f32>
    tt.store %x, %w : !tt.ptr<f32>
  }
  tt.return
}
