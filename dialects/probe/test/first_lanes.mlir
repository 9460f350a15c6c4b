// RUN: triton-ext-opt %s -split-input-file -triton-ext-settle-regions | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>

// For AMD, a function of the module tells the size of the grid, so that Triton links no library for it.
// CHECK-LABEL: tt.func public @amd
// CHECK: %[[SCRATCH:.*]] = llvm.inttoptr
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[SCRATCH]]
// CHECK: %[[HAS:.*]] = arith.cmpi eq
// CHECK: "tt.map_elementwise"(%arg0, %arg1, %arg2) <{pack = 2 : i32}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: i1, %{{.*}}: i1, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i32)
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[HAS]] : i1
// CHECK: scf.if %[[BOTH]]
// CHECK: llvm.atomicrmw umax %{{.*}}, %[[KEY:.*]] syncscope("agent") monotonic
// CHECK: %[[LARGEST:.*]] = llvm.atomicrmw umax %{{.*}}, %[[KEY]] syncscope("agent") monotonic
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[KEY]], %[[LARGEST]] : i64
// CHECK: scf.if %[[IS_FIRST]]
// CHECK: llvm.atomicrmw xchg
// CHECK: llvm.atomicrmw xchg %{{.*}}, %[[KEY]] syncscope("agent") monotonic
// CHECK-NOT: elementwise_inline_asm
// CHECK: llvm.func internal @__ockl_get_num_groups(%[[DIM:.*]]: i32) -> i64 attributes {always_inline}
// CHECK: %[[SIZES:.*]] = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"() : () -> !llvm.ptr<4>
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[SIZES]][%[[DIM]]] : (!llvm.ptr<4>, i32) -> !llvm.ptr<4>, i32
// CHECK: llvm.load %[[AT]]
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
tt.func public @amd(%on: tensor<512xi1, #blocked>, %x: tensor<512xi64, #blocked>, %lanes: tensor<512xi32, #blocked>) {
  %own = ttg.global_scratch_alloc {alignment = 2048 : i32, nbytes = 2048 : i32, third_party_allocation} : !tt.ptr<i8>
  %all = tt.splat %own : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>, #blocked>
  %bits = arith.extui %on : tensor<512xi1, #blocked> to tensor<512xi32, #blocked>
  %none = tt.elementwise_inline_asm "probe.outside 1 4 8 24 1" {constraints = "=r,=r,r,r,l,l,r,r,l,l", packed_element = 2 : i32, pure = false} %bits, %x, %lanes, %all : tensor<512xi32, #blocked>, tensor<512xi64, #blocked>, tensor<512xi32, #blocked>, tensor<512x!tt.ptr<i8>, #blocked> -> tensor<512xi32, #blocked>
  tt.return
}
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// For NVIDIA, LLVM knows no such scope, and the size of the grid is a register.
// CHECK-LABEL: tt.func public @nvidia
// CHECK-SAME: %[[SLOT:[a-z0-9]+]]: i64
// CHECK: %[[AT:.*]] = llvm.inttoptr %[[SLOT]]
// CHECK-NEXT: %[[FIRST:.*]] = llvm.getelementptr %[[AT]][0]
// CHECK-NEXT: %[[MAGIC:.*]] = llvm.load %[[FIRST]]
// CHECK: llvm.atomicrmw umax %{{.*}}, %{{.*}} monotonic
// CHECK-NOT: llvm.func
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func public @nvidia(%slot: i64, %on: tensor<512xi32, #blocked>, %x: tensor<512xi64, #blocked>, %lanes: tensor<512xi32, #blocked>) {
  %own = ttg.global_scratch_alloc {alignment = 2048 : i32, nbytes = 2048 : i32, third_party_allocation} : !tt.ptr<i8>
  %all = tt.splat %slot : i64 -> tensor<512xi64, #blocked>
  %none = tt.elementwise_inline_asm "probe.outside 0 4 8 24 0" {constraints = "=r,=r,r,r,l,l,r,r,l,l", packed_element = 2 : i32, pure = false} %on, %x, %lanes, %all : tensor<512xi32, #blocked>, tensor<512xi64, #blocked>, tensor<512xi32, #blocked>, tensor<512xi64, #blocked> -> tensor<512xi32, #blocked>
  tt.return
}
}

// -----

// Other assembly stays, and a kernel without scratch memory needs no function.
// CHECK-LABEL: tt.func public @other
// CHECK: tt.elementwise_inline_asm "s_nop 0"
// CHECK-NOT: llvm.func
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
tt.func public @other(%x: i32) -> i32 {
  %y = tt.elementwise_inline_asm "s_nop 0" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : i32 -> i32
  tt.return %y : i32
}
}
