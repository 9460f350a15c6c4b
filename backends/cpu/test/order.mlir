// RUN: triton-ext-opt %s --load-extension=cpu -split-input-file -triton-ext-cpu-lower-tiles | FileCheck %s

// A load stays before a store through the same argument at other addresses, so its 64 floats go to scratch memory.
// CHECK: triton_ext_cpu.scratch = 256
// CHECK-LABEL: llvm.func internal @shift.program
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.store
// CHECK: }
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.store
tt.func public @shift(%x: !tt.ptr<f32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %from = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %to = tt.addptr %from, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %from : tensor<64x!tt.ptr<f32>>
  tt.store %to, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A load moves into a store that writes the same addresses, lane by lane, so it needs no scratch memory.
// CHECK: triton_ext_cpu.scratch = 0
// CHECK-LABEL: llvm.func internal @increment.program
tt.func public @increment(%x: !tt.ptr<f32>) {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %at = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %at : tensor<64x!tt.ptr<f32>>
  %sum = arith.addf %v, %one : tensor<64xf32>
  tt.store %at, %sum : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// The pointers are the same, but the value is used at other coordinates: the store would overwrite elements that are
// still to be loaded. Only the view of the load differs. The 8 * 8 floats go to scratch memory.
// CHECK: triton_ext_cpu.scratch = 256
// CHECK-LABEL: llvm.func internal @transpose.program
tt.func public @transpose(%x: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %square = tt.reshape %i : tensor<64xi32> -> tensor<8x8xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %at = tt.addptr %p, %square : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %v = tt.load %at : tensor<8x8x!tt.ptr<f32>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<8x8xf32> -> tensor<8x8xf32>
  tt.store %at, %t : tensor<8x8x!tt.ptr<f32>>
  tt.return
}

// -----

// Both cases at once: one use is in place and the other is not, so the load must not move.
// CHECK: triton_ext_cpu.scratch = 256
// CHECK-LABEL: llvm.func internal @symmetrize.program
tt.func public @symmetrize(%x: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %square = tt.reshape %i : tensor<64xi32> -> tensor<8x8xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %at = tt.addptr %p, %square : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %v = tt.load %at : tensor<8x8x!tt.ptr<f32>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<8x8xf32> -> tensor<8x8xf32>
  %sum = arith.addf %v, %t : tensor<8x8xf32>
  tt.store %at, %sum : tensor<8x8x!tt.ptr<f32>>
  tt.return
}
