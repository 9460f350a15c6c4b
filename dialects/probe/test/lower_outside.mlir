// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe -split-input-file | FileCheck %s --check-prefix=OFF
// RUN: triton-ext-opt %s --load-extension=probe -triton-ext-lower-probe="keep=true" -triton-ext-lower-probe="emit=true" -canonicalize -split-input-file | FileCheck %s

// OFF-NOT: probe.outside
// OFF: tt.func public @few
// OFF-NEXT: tt.return

// For a GPU of NVIDIA it is assembly, for as many lanes at once as a thread has, and nothing else: the assembly itself
// finds the slot. The site is a row of the table, without records.
// CHECK: \22kind\22:\22outside\22
// CHECK-LABEL: tt.func public @few
// CHECK: %[[OWN:.*]] = ttg.global_scratch_alloc {alignment = 2048 : i32, nbytes = 2048 : i32, third_party_allocation}
// CHECK-NOT: tt.load
// CHECK-NOT: tt.reduce
// CHECK: tt.splat %[[OWN]]
// CHECK: tt.elementwise_inline_asm "{{[^"]*}}atom.global.max.u64 s, [slot+192]
// CHECK-SAME: packed_element = 4 : i32, pure = false
// CHECK-NOT: tt.reduce
// CHECK: tt.return
// A tile with more than 32 lanes of a thread has reductions.
// CHECK-LABEL: tt.func public @many
// CHECK: "tt.reduce"
// CHECK: tt.atomic_rmw umax
// CHECK-NOT: tt.elementwise_inline_asm
// CHECK: tt.return
module attributes {probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
tt.func public @few(%x: tensor<512xi64>, %on: tensor<512xi1>) {
  probe.outside %x, "view" mask(%on : tensor<512xi1>) {argument = 0 : i32, bytes = 4 : i32, probe.note = "{}"} : tensor<512xi64>
  tt.return
}
tt.func public @many(%x: tensor<8192xi64>) {
  probe.outside %x, "view" {argument = 0 : i32, bytes = 4 : i32, probe.note = "{}"} : tensor<8192xi64>
  tt.return
}
}

// -----

// Other targets have reductions: of the key, then of the address of the lane with that key. They keep it by an atomic
// maximum, and the address if that was new.
// CHECK-LABEL: tt.func public @amd
// CHECK: %[[KEY:.*]] = "tt.reduce"
// CHECK: arith.maxui
// CHECK: %[[WHERE:.*]] = "tt.reduce"
// CHECK: %[[BEFORE:.*]] = tt.atomic_rmw umax, relaxed, gpu, %{{.*}}, %[[KEY]], %[[ANY:.*]] : (
// CHECK: %[[GREATER:.*]] = arith.cmpi ugt, %[[KEY]], %[[BEFORE]]
// CHECK: %[[NEW:.*]] = arith.andi %[[ANY]], %[[GREATER]]
// CHECK: tt.store %{{.*}}, %[[WHERE]], %[[NEW]]
// CHECK: tt.store %{{.*}}, %[[KEY]], %[[NEW]]
module attributes {probe.target = "hip:gfx942", probe.num_warps = 4 : i32, probe.warp_size = 64 : i32} {
tt.func public @amd(%x: tensor<8x16xi64>, %on: tensor<8x16xi1>) {
  probe.outside %x, "view" mask(%on : tensor<8x16xi1>) {argument = 0 : i32, bytes = 2 : i32, probe.note = "{}"} : tensor<8x16xi64>
  tt.return
}
}
