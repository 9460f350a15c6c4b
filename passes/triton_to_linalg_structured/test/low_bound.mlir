// RUN: triton-ext-opt %s -triton-ext-triton-to-linalg-structured | FileCheck %s

// A box with a low bound is one view, not a row for each index.
// CHECK-LABEL: func.func @low_bound
// CHECK-NOT: scf.for
// CHECK: aux.view
// CHECK-NOT: scf.for
// CHECK: linalg.copy
// CHECK: return
tt.func @low_bound(%x: !tt.ptr<f32>, %low: i32, %high: i32, %m: i32) -> tensor<8x16xf32> {
  %ones = arith.constant dense<1.0> : tensor<8x16xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %c100 = arith.constant dense<100> : tensor<8x1xi32>
  %scaled = arith.muli %rows, %c100 : tensor<8x1xi32>
  %r = tt.broadcast %scaled : tensor<8x1xi32> -> tensor<8x16xi32>
  %c = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
  %sum = arith.addi %r, %c : tensor<8x16xi32>
  %ms = tt.splat %m : i32 -> tensor<8x1xi32>
  %lows = tt.splat %low : i32 -> tensor<1x16xi32>
  %highs = tt.splat %high : i32 -> tensor<1x16xi32>
  %a = arith.cmpi slt, %rows, %ms : tensor<8x1xi32>
  %b = arith.cmpi sge, %columns, %lows : tensor<1x16xi32>
  %d = arith.cmpi slt, %columns, %highs : tensor<1x16xi32>
  %bd = arith.andi %b, %d : tensor<1x16xi1>
  %at = tt.broadcast %a : tensor<8x1xi1> -> tensor<8x16xi1>
  %bt = tt.broadcast %bd : tensor<1x16xi1> -> tensor<8x16xi1>
  %mask = arith.andi %at, %bt : tensor<8x16xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p, %mask, %ones : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}
