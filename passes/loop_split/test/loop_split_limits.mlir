// RUN: triton-ext-opt %s -triton-ext-loop-split="max-growth=5" -Rpass-missed=loop-split 2>&1 | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: triton-ext-opt %s -triton-ext-loop-split="max-growth=6" | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: triton-ext-opt %s -triton-ext-loop-split="max-splits=0" | FileCheck %s --check-prefixes=CHECK,KEEP

// The loop and the operations in it are six operations.
// SMALL: [[@LINE+10]]:13: remark: not split: it would add 6 operations, more than max-growth=5 [-Rpass-missed=triton-ext-loop-split]
// CHECK: tt.func public @limits
// SMALL-NOT: triton_ext
// KEEP-NOT: triton_ext
// SPLIT: triton_ext
// CHECK: tt.return
tt.func public @limits(%p: !tt.ptr<i32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %cond = arith.cmpi slt, %i, %m : i32
    scf.if %cond {
      tt.store %p, %i : !tt.ptr<i32>
    }
  }
  tt.return
}
