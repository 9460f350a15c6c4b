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
// CHECK: tt.elementwise_inline_asm "{{[^"]*}}atom.global.max.u64 s, [slot+192], k; atom.global.max.u64 s, [slot+192]
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

// Other GPUs have a text in its place, which settle_regions replaces by operations. Such a kernel of NVIDIA is one of a
// module without assembly.
// CHECK-LABEL: tt.func public @amd
// CHECK: %[[OWN:.*]] = ttg.global_scratch_alloc
// CHECK-NOT: tt.load
// CHECK-NOT: tt.reduce
// CHECK: %[[ALL:.*]] = tt.splat %[[OWN]]
// CHECK: tt.elementwise_inline_asm "probe.outside 1 2 8 24 1" {{.*}}packed_element = 1 : i32, pure = false{{.*}}, %[[ALL]] :
module attributes {probe.target = "hip:gfx942", probe.num_warps = 4 : i32, probe.warp_size = 64 : i32} {
tt.func public @amd(%x: tensor<8x16xi64>, %on: tensor<8x16xi1>) {
  probe.outside %x, "view" mask(%on : tensor<8x16xi1>) {argument = 0 : i32, bytes = 2 : i32, probe.note = "{}"} : tensor<8x16xi64>
  tt.return
}
}

// -----

// With other probes, the program finds the slot itself.
// CHECK-LABEL: tt.func public @without
// CHECK: %[[SLOT:.*]] = tt.ptr_to_int
// CHECK: %[[ALL:.*]] = tt.splat %[[SLOT]] : i64
// CHECK: tt.elementwise_inline_asm "probe.outside 0 4 8 32 0" {{.*}}packed_element = 4 : i32{{.*}}, %[[ALL]] :
// A tile with more than 32 lanes of a thread has reductions: of the key, then of the address of the lane with that key.
// They keep it by an atomic maximum, and the address if that was new.
// CHECK-LABEL: tt.func public @large
// CHECK: %[[KEY:.*]] = "tt.reduce"
// CHECK: arith.maxui
// CHECK: %[[WHERE:.*]] = "tt.reduce"
// CHECK: %[[BEFORE:.*]] = tt.atomic_rmw umax, relaxed, gpu, %{{.*}}, %[[KEY]], %[[ANY:.*]] : (
// CHECK: %[[GREATER:.*]] = arith.cmpi ugt, %[[KEY]], %[[BEFORE]]
// CHECK: %[[NEW:.*]] = arith.andi %[[ANY]], %[[GREATER]]
// CHECK: tt.store %{{.*}}, %[[WHERE]], %[[NEW]]
// CHECK: tt.store %{{.*}}, %[[KEY]], %[[NEW]]
module attributes {probe.no_assembly, probe.target = "cuda:90", probe.num_warps = 4 : i32, probe.warp_size = 32 : i32} {
tt.func public @without(%x: tensor<512xi64>, %on: tensor<512xi1>, %out: i1) {
  probe.raise %out, "bounds"
  probe.outside %x, "view" mask(%on : tensor<512xi1>) {argument = 0 : i32, bytes = 4 : i32, probe.note = "{}"} : tensor<512xi64>
  tt.return
}
tt.func public @large(%x: tensor<8192xi64>) {
  probe.outside %x, "view" {argument = 0 : i32, bytes = 4 : i32, probe.note = "{}"} : tensor<8192xi64>
  tt.return
}
}

// -----

// For a CPU, two checks that say which argument the addresses belong to are one call of the runtime: with the slot, the
// places of the argument's words and of the counters, the tag, the bytes, the number of lanes, the addresses and the mask.
// CHECK-LABEL: tt.func public @cpu
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x16xi64>, %[[ON:[a-z0-9]+]]: tensor<8x16xi1>
// CHECK-DAG: %[[ARGUMENT:.*]] = arith.constant 16 : i64
// CHECK-DAG: %[[SITE:.*]] = arith.constant 32 : i64
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[LANES:.*]] = arith.constant 128 : i64
// CHECK-NOT: tt.reduce
// CHECK: tt.print "" {{.*}}triton_ext_cpu.call = "triton_ext_cpu_outside"{{.*}} : %{{.*}}, %[[ARGUMENT]], %[[SITE]], %{{.*}}, %[[BYTES]], %[[LANES]], %[[X]], %[[ON]] :
// CHECK-NOT: tt.reduce
// CHECK: tt.return
// Without the attribute, the program looks itself.
// CHECK-LABEL: tt.func public @own
// CHECK: "tt.reduce"
// CHECK-NOT: tt.print
module attributes {probe.target = "x86-64"} {
tt.func public @cpu(%x: tensor<8x16xi64>, %on: tensor<8x16xi1>, %ok: tensor<8x16xi1>) {
  %serial = probe.launch_word 2 : i64
  probe.check %ok, "bounds"(%serial, %x : i64, tensor<8x16xi64>) mask(%on : tensor<8x16xi1>) {probe.note = "{}", probe.outside = array<i64: 1, 2>} : tensor<8x16xi1>
  probe.check %ok, "view"(%serial, %x : i64, tensor<8x16xi64>) mask(%on : tensor<8x16xi1>) {probe.note = "{}"} : tensor<8x16xi1>
  tt.return
}
tt.func public @own(%x: tensor<8x16xi64>, %on: tensor<8x16xi1>, %ok: tensor<8x16xi1>) {
  %serial = probe.launch_word 2 : i64
  probe.check %ok, "bounds"(%serial, %x : i64, tensor<8x16xi64>) mask(%on : tensor<8x16xi1>) {probe.note = "{}"} : tensor<8x16xi1>
  probe.check %ok, "view"(%serial, %x : i64, tensor<8x16xi64>) mask(%on : tensor<8x16xi1>) {probe.note = "{}"} : tensor<8x16xi1>
  tt.return
}
}
