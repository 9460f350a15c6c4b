// RUN: triton-ext-opt %s --load-extension=probe -split-input-file -triton-ext-lower-probe="emit=true" -canonicalize | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=probe -split-input-file -triton-ext-lower-probe | FileCheck %s --check-prefix=OFF

// Without a session, a clock is 0, and regions leave nothing.
// OFF-LABEL: tt.func public @clocks
// OFF: %[[ZERO:.*]] = arith.constant 0 : i64
// OFF: tt.store %{{.*}}, %[[ZERO]]
// OFF-LABEL: tt.func public @regions
// OFF: scf.for
// OFF-NEXT: {{^ *}}}
// OFF-NEXT: tt.return

// In a counted loop, reading the clock has no side effects, and the induction variable keeps it there. Each read has
// another text. A kernel with clocks alone needs no buffer.
// CHECK-LABEL: module
// CHECK-NOT: probe.{{target|num_warps|warp_size|clock|region|sites}}
// CHECK-LABEL: tt.func public @clocks
// CHECK-NOT: ttg.global_scratch_alloc
// CHECK: %[[FIRST:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; // clock 0" {constraints = "=l,~{memory}", packed_element = 1 : i32, pure = false} -> i64
// CHECK: tt.store %{{.*}}, %[[FIRST]]
// CHECK: scf.for %[[TURN:.*]] =
// CHECK: %[[NOW:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; // clock 1" {constraints = "=l,r,~{memory}", packed_element = 1 : i32, pure = true} %[[TURN]] : i32 -> i64
// CHECK: tt.store %{{.*}}, %[[NOW]]
module attributes {probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
  tt.func public @clocks(%p: !tt.ptr<i64>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = probe.clock : i64
    tt.store %p, %t : !tt.ptr<i64>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %u = probe.clock : i64
      tt.store %p, %u : !tt.ptr<i64>
    }
    tt.return
  }
}

// -----

// The program's two regions in a loop make five records each turn: one of the program, and those of four warps.
// CHECK-LABEL: probe.sites = "{{.*}}\22loop\22:0,{{.*}}\22place\22:0,{{.*}}\22loop\22:0,{{.*}}\22place\22:1,
// CHECK-LABEL: tt.func public @regions
// The program's start is the first that it does.
// CHECK: %clock64
// CHECK: %globaltimer
// The kernel's chunk is where the threads agree to have seen its key, else it is searched for.
// CHECK: %[[KEYS:.*]] = tt.load %{{.*}} : tensor<128x!tt.ptr<i64>>
// CHECK: arith.cmpi eq, %[[KEYS]]
// CHECK: %[[SEEN:.*]] = "tt.reduce"
// CHECK: arith.trunci %[[SEEN]] : i32 to i1
// CHECK: scf.if
// CHECK: tt.atomic_cas
// One addition takes the home and the room for all turns.
// CHECK: %[[WORDS:.*]] = arith.muli %{{.*}}, %c10_i64
// CHECK: %[[ASKED:.*]] = arith.select %{{.*}}, %[[WORDS]], %c0_i64
// CHECK: %[[SIZE:.*]] = arith.addi %[[ASKED]], %c10_i64
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %[[SIZE]], %{{.*}} : (!tt.ptr<i64>, i64, i1) -> i64
// CHECK: %smid
// What does not fit is counted before the loop, for each site.
// CHECK: scf.if
// CHECK-COUNT-2: tt.atomic_rmw add
// The number of the next record runs through the loop, which has no branch.
// CHECK: scf.for %{{.*}} iter_args(%[[PLACE:.*]] = %c0_i32) -> (i32)
// CHECK-NOT: scf.if
// CHECK: %[[FIRST:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; {{.*}}pure = true} %{{.*}} : i32 -> i64
// CHECK: %[[LAST:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; {{.*}}probe.end, pure = true} %{{.*}} : i32 -> i64
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[PLACE]], %{{.*}} : i32
// CHECK: tt.store %{{.*}}, %[[FIRST]], %[[FITS]] {probe.end} : !tt.ptr<i64>
// CHECK: tt.store %{{.*}}, %[[LAST]], %[[FITS]] {probe.end} : !tt.ptr<i64>
// CHECK: %[[BEGIN:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; {{.*}}pure = true} %{{.*}} : tensor<128xi32> -> tensor<128xi64>
// CHECK: %[[END:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; {{.*}}probe.end, pure = true} %{{.*}} : tensor<128xi32> -> tensor<128xi64>
// CHECK: arith.remui
// CHECK: tt.store %{{.*}}, %[[BEGIN]], %[[MASK:.*]] : tensor<128x!tt.ptr<i64>>
// CHECK: tt.store %{{.*}}, %[[END]], %[[MASK]] : tensor<128x!tt.ptr<i64>>
// CHECK: %[[NEXT:.*]] = arith.addi %[[PLACE]], %c5_i32
// CHECK: scf.yield %[[NEXT]] : i32
// At its end, the program reads both counters again.
// CHECK: %clock64
// CHECK: %globaltimer
// CHECK: tt.return
module attributes {probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
  tt.func public @regions(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %g = probe.region_begin "part" : i64
      probe.region_end %g
      %h = probe.region_begin "turn" {per_warp} : i64
      probe.region_end %h
    }
    tt.return
  }
}

// -----

// A loop inside of another one does not take room: its program takes blocks for 32 turns.
// CHECK-LABEL: tt.func public @inner_loop
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %c264_i64, %{{.*}} : (!tt.ptr<i64>, i64, i1) -> i64
// The numbers of the program run through both loops.
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32)
// CHECK: scf.for %{{.*}} iter_args(%[[NEXT:.*]] = %{{.*}}, %[[LEFT:.*]] = %{{.*}}) -> (i32, i32)
// CHECK: %[[BEGIN:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; {{.*}}pure = true} %{{.*}} : tensor<128xi32> -> tensor<128xi64>
// CHECK: %[[END:.*]] = tt.elementwise_inline_asm "mov.u64 $0, %clock64; {{.*}}pure = true} %{{.*}} : tensor<128xi32> -> tensor<128xi64>
// If a block has no room for the records of four warps, the program takes another block. If the buffer is full, it counts
// the records as lost.
// CHECK: %[[IS_FULL:.*]] = arith.cmpi slt, %[[LEFT]], %c4_i32
// CHECK: scf.if %[[IS_FULL]] -> (i32, i32)
// CHECK: %[[MAY_TAKE:.*]] = arith.cmpi sge, %[[LEFT]], %c0_i32
// CHECK: scf.if %[[MAY_TAKE]] -> (i32, i32)
// CHECK: tt.atomic_rmw add
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %c4_i64
// CHECK: arith.subi %[[END]], %[[BEGIN]]
// CHECK: arith.remui
// CHECK: tt.store %{{.*}}, %[[BEGIN]], %[[FITS:.*]] : tensor<128x!tt.ptr<i64>>
// CHECK: tt.store %{{.*}}, %{{.*}}, %[[FITS]] : tensor<128x!tt.ptr<i64>>
// CHECK: scf.yield %{{.*}}, %{{.*}} : i32, i32
// At its end, the program reads both counters again.
// CHECK: %clock64
// CHECK: %globaltimer
// CHECK: tt.return
module attributes {probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
  tt.func public @inner_loop(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %j = %c0 to %n step %c1 : i32 {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %h = probe.region_begin "turn" {per_warp} : i64
        probe.region_end %h
      }
    }
    tt.return
  }
}

// -----

// A loop that is not the first one with regions takes room for itself, before it. A count after it has its values before
// all of them.
// CHECK-LABEL: tt.func public @second_loop
// CHECK: tt.atomic_cas
// CHECK: tt.atomic_rmw add
// CHECK: scf.for
// CHECK: tt.atomic_rmw add
// CHECK: scf.for
// CHECK-NOT: tt.atomic_cas
// CHECK: tt.return
module attributes {probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
  tt.func public @second_loop(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %h = probe.region_begin "first" : i64
      probe.region_end %h
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      %h = probe.region_begin "second" : i64
      probe.region_end %h
    }
    probe.count "programs"
    tt.return
  }
}

// -----

// A program of the CPU is one thread, so all numbers are scalars. The kernel has one region and no loop, so a block has
// room for one record. Eight neighbours share a shard. The program starts and ends with the region, so the clock is read
// twice, not four times.
// CHECK-LABEL: probe.sites = "{{.*}}\22records_of_block\22:1
// CHECK-LABEL: tt.func public @on_the_cpu
// CHECK-NOT: "rdtsc;
// CHECK: %[[NEIGHBOURS:.*]] = arith.shrui %{{.*}}, %c3_i64
// CHECK: arith.andi %[[NEIGHBOURS]], %c63_i64
// CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}} : (!tt.ptr<i64>, i64, i1) -> i64
// CHECK: "movq %fs:0, $0
// CHECK-SAME: target = "x86-64"
// CHECK: %[[START:.*]] = tt.elementwise_inline_asm "rdtsc;
// CHECK: tt.store %{{.*}}, %[[START]], %[[HASHOME:.*]] : !tt.ptr<i64>
// CHECK: %[[END:.*]] = tt.elementwise_inline_asm "rdtsc;
// CHECK: tt.store %{{.*}}, %[[START]], %{{.*}} : !tt.ptr<i64>
// CHECK-NOT: "rdtsc;
// CHECK: tt.store %{{.*}}, %[[END]], %[[HASHOME]] : !tt.ptr<i64>
// CHECK-NOT: tensor<
module attributes {probe.target = "x86-64"} {
  tt.func public @on_the_cpu() {
    %h = probe.region_begin "part" : i64
    probe.region_end %h
    tt.return
  }
}

// -----

// CHECK-LABEL: tt.func public @of_amd
// CHECK: s_getreg_b32 $0, hwreg(HW_REG_HW_ID, 8, 7)
// CHECK: "s_memtime $0\0As_waitcnt lgkmcnt(0) ; clock
// CHECK: "s_memrealtime $0\0As_waitcnt lgkmcnt(0) ; clock
module attributes {probe.target = "hip:gfx942", probe.num_warps = 4 : i32, probe.warp_size = 64 : i32} {
  tt.func public @of_amd() {
    %h = probe.region_begin "part" : i64
    probe.region_end %h
    tt.return
  }
}

// -----

// CHECK-LABEL: tt.func public @of_another_amd
// CHECK: hwreg(HW_REG_HW_ID1, 10, 11)
// CHECK: s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)\0As_wait_kmcnt 0
module attributes {probe.target = "hip:gfx1200", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
  tt.func public @of_another_amd() {
    %h = probe.region_begin "part" : i64
    probe.region_end %h
    tt.return
  }
}

// -----

// Blocks of the function get the numbers from each branch, and each return writes the end.
// CHECK-LABEL: tt.func public @returns_early
// CHECK: cf.cond_br %{{.*}}, ^bb1, ^bb2(%{{.*}}, %{{.*}} : i32, i32)
// CHECK: ^bb1:
// CHECK: "rdtsc;
// CHECK: tt.return
// CHECK: ^bb2(%[[NEXT:.*]]: i32, %[[LEFT:.*]]: i32):
// CHECK: "rdtsc;
// CHECK: "rdtsc;
// CHECK-NOT: "rdtsc;
// CHECK: tt.return
module attributes {probe.target = "x86-64"} {
  tt.func public @returns_early(%c: i1) {
    cf.cond_br %c, ^out, ^on
  ^out:
    tt.return
  ^on:
    %h = probe.region_begin "part" : i64
    probe.region_end %h
    tt.return
  }
}
