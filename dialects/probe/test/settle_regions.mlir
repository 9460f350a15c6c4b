// RUN: triton-ext-opt %s -split-input-file -triton-ext-settle-regions | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// The clock and both stores go behind the copy, and what depends on the clock goes with them. The begin stays.
// CHECK-LABEL: tt.func public @pipelined
// CHECK: scf.for
// CHECK: %[[BEGIN:.*]] = tt.elementwise_inline_asm "begin"
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: tt.addptr
// CHECK-NEXT: tt.addptr
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NEXT: %[[END:.*]] = tt.elementwise_inline_asm "end" {constraints = "=l,r,~{memory}", packed_element = 1 : i32, pure = true}
// CHECK-NEXT: tt.store %{{.*}}, %[[BEGIN]]
// CHECK-NEXT: %[[MORE:.*]] = arith.addi %[[END]]
// CHECK-NEXT: tt.store %{{.*}}, %[[MORE]]
// CHECK-NEXT: scf.yield
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @pipelined(%records: !tt.ptr<i64>, %x: tensor<128x!tt.ptr<f16>, #blocked>, %steps: tensor<128xi32, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %tile = ttg.local_alloc : () -> !ttg.memdesc<128xf16, #shared, #smem, mutable>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (tensor<128x!tt.ptr<f16>, #blocked>) : i32 {
      %begin = tt.elementwise_inline_asm "begin" {constraints = "=l,r,~{memory}", packed_element = 1 : i32, pure = true} %i : i32 -> i64
      %done = ttg.async_wait {num = 0 : i32}
      %now = tt.elementwise_inline_asm "end" {constraints = "=l,r,~{memory}", packed_element = 1 : i32, probe.end, pure = true} %i : i32 -> i64
      tt.store %records, %begin {probe.end} : !tt.ptr<i64>
      %second = tt.addptr %records, %one : !tt.ptr<i64>, i64
      %more = arith.addi %now, %one : i64
      tt.store %second, %more {probe.end} : !tt.ptr<i64>
      %next = tt.addptr %p, %steps : tensor<128x!tt.ptr<f16>, #blocked>, tensor<128xi32, #blocked>
      %copy = ttg.async_copy_global_to_local %next, %tile : tensor<128x!tt.ptr<f16>, #blocked> -> <128xf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      scf.yield %next : tensor<128x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// Arithmetic of floats may belong to the kernel. In a loop without a copy, so may the arithmetic of addresses.
// CHECK-LABEL: tt.func public @work
// CHECK: scf.for
// CHECK: tt.elementwise_inline_asm "end"
// CHECK-NOT: probe.end
// CHECK-NEXT: tt.store
// CHECK-NEXT: math.exp2
// CHECK: ttg.async_copy_global_to_local
// CHECK: scf.for
// CHECK-NEXT: tt.elementwise_inline_asm "end"
// CHECK-NEXT: tt.store
// CHECK-NEXT: arith.muli
// CHECK: scf.for
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK-NEXT: tt.elementwise_inline_asm "end"
// CHECK-NEXT: tt.store
// CHECK-NEXT: arith.muli
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @work(%records: !tt.ptr<i64>, %x: tensor<128x!tt.ptr<f16>, #blocked>, %v: tensor<128xf32, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = ttg.local_alloc : () -> !ttg.memdesc<128xf16, #shared, #smem, mutable>
    %a = scf.for %i = %c0 to %n step %c1 iter_args(%w = %v) -> (tensor<128xf32, #blocked>) : i32 {
      %now = tt.elementwise_inline_asm "end" {constraints = "=l,r,~{memory}", packed_element = 1 : i32, probe.end, pure = true} %i : i32 -> i64
      tt.store %records, %now {probe.end} : !tt.ptr<i64>
      %e = math.exp2 %w : tensor<128xf32, #blocked>
      %copy = ttg.async_copy_global_to_local %x, %tile : tensor<128x!tt.ptr<f16>, #blocked> -> <128xf16, #shared, #smem, mutable>
      scf.yield %e : tensor<128xf32, #blocked>
    }
    %b = scf.for %i = %c0 to %n step %c1 iter_args(%w = %n) -> (i32) : i32 {
      %now = tt.elementwise_inline_asm "end" {constraints = "=l,r,~{memory}", packed_element = 1 : i32, probe.end, pure = true} %i : i32 -> i64
      tt.store %records, %now {probe.end} : !tt.ptr<i64>
      %e = arith.muli %w, %i : i32
      scf.yield %e : i32
    }
    %c = scf.for %i = %c0 to %n step %c1 iter_args(%w = %b) -> (i32) : i32 {
      %copy = ttg.async_copy_global_to_local %x, %tile : tensor<128x!tt.ptr<f16>, #blocked> -> <128xf16, #shared, #smem, mutable>
      %now = tt.elementwise_inline_asm "end" {constraints = "=l,r,~{memory}", packed_element = 1 : i32, probe.end, pure = true} %i : i32 -> i64
      tt.store %records, %now {probe.end} : !tt.ptr<i64>
      %e = arith.muli %w, %i : i32
      scf.yield %e : i32
    }
    tt.return
  }
}
