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

// -----

// Tiles of neighbours along y lie side by side: the store says so, and the load if its stride is 1. Then programs run
// along y first. The number that the runtime names after a fault counts along x first.
// CHECK-LABEL: llvm.func @rows(
// CHECK: llvm.load {{.*}} -> i32
// CHECK: %[[STRIDE:.*]] = llvm.load {{.*}} -> i32
// CHECK: %[[X:.*]] = arith.extui
// CHECK: %[[Y:.*]] = arith.extui
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[STRIDE]], %c1_i32
// CHECK: %[[ALONG_Y:.*]] = arith.andi %true, %[[ONE]]
// CHECK: %[[FIRST:.*]] = arith.select %[[ALONG_Y]], %[[Y]], %[[X]]
// CHECK: %[[SECOND:.*]] = arith.select %[[ALONG_Y]], %[[X]], %[[Y]]
// CHECK: %[[REST:.*]] = arith.divui %[[PROGRAM:.*]], %[[FIRST]]
// CHECK: %[[FAST:.*]] = arith.remui %[[PROGRAM]], %[[FIRST]]
// CHECK: %[[SLOW:.*]] = arith.remui %[[REST]], %[[SECOND]]
// CHECK: arith.select %[[ALONG_Y]], %[[SLOW]], %[[FAST]]
// CHECK: llvm.store volatile
tt.func public @rows(%x: !tt.ptr<f32>, %columns: i32, %stride: i32) {
  %two = arith.constant 2 : i32
  %eight = arith.constant 8 : i32
  %pid_x = tt.get_program_id x : i32
  %pid_y = tt.get_program_id y : i32
  %first_row = arith.muli %pid_x, %two : i32
  %first_column = arith.muli %pid_y, %eight : i32
  %r = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %rs = tt.splat %first_row : i32 -> tensor<2x1xi32>
  %i = arith.addi %rs, %r2 : tensor<2x1xi32>
  %ns = tt.splat %columns : i32 -> tensor<2x1xi32>
  %row = arith.muli %i, %ns : tensor<2x1xi32>
  %c = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %cs = tt.splat %first_column : i32 -> tensor<1x8xi32>
  %j = arith.addi %cs, %c2 : tensor<1x8xi32>
  %ss = tt.splat %stride : i32 -> tensor<1x8xi32>
  %js = arith.muli %j, %ss : tensor<1x8xi32>
  %rows = tt.broadcast %row : tensor<2x1xi32> -> tensor<2x8xi32>
  %columns_from = tt.broadcast %js : tensor<1x8xi32> -> tensor<2x8xi32>
  %columns_to = tt.broadcast %j : tensor<1x8xi32> -> tensor<2x8xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<2x8x!tt.ptr<f32>>
  %from = arith.addi %rows, %columns_from : tensor<2x8xi32>
  %to = arith.addi %rows, %columns_to : tensor<2x8xi32>
  %source = tt.addptr %p, %from : tensor<2x8x!tt.ptr<f32>>, tensor<2x8xi32>
  %target = tt.addptr %p, %to : tensor<2x8x!tt.ptr<f32>>, tensor<2x8xi32>
  %v = tt.load %source : tensor<2x8x!tt.ptr<f32>>
  tt.store %target, %v : tensor<2x8x!tt.ptr<f32>>
  tt.return
}
