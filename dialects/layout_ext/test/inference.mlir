// RUN: triton-ext-opt %s --load-extension=layout_ext -split-input-file | FileCheck %s

// Operations whose results have another layout than their operands verify, as
// they do with the layout as #ttg.linear.

#tile = #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [1, 0], warps = [2, 2], lanes = 32}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [4, 0], [8, 0], [16, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[0, 32], [32, 0]], block = []}>
#transposed = #ttg.linear<{register = [[1, 0], [2, 0], [0, 4], [0, 8], [0, 16]], lane = [[4, 0], [8, 0], [16, 0], [0, 1], [0, 2]], warp = [[32, 0], [0, 32]], block = []}>
#rows = #ttg.slice<{dim = 1, parent = #tile}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @same
  // CHECK: tt.trans %arg0 {order = array<i32: 1, 0>} : tensor<64x64xf32, #warp_tile> -> tensor<64x64xf32, #linear{{[0-9]*}}>
  // CHECK: %[[L:.*]] = tt.reshape %arg0 : tensor<64x64xf32, #warp_tile> -> tensor<64x64xf32, #linear{{[0-9]*}}>
  // CHECK: tt.reshape %[[L]] : tensor<64x64xf32, #linear{{[0-9]*}}> -> tensor<64x64xf32, #warp_tile>
  tt.func @same(%a: tensor<64x64xf32, #tile>) -> (tensor<64x64xf32, #transposed>, tensor<64x64xf32, #tile>) {
    %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<64x64xf32, #tile> -> tensor<64x64xf32, #transposed>
    %1 = tt.reshape %a : tensor<64x64xf32, #tile> -> tensor<64x64xf32, #linear>
    %2 = tt.reshape %1 : tensor<64x64xf32, #linear> -> tensor<64x64xf32, #tile>
    tt.return %0, %2 : tensor<64x64xf32, #transposed>, tensor<64x64xf32, #tile>
  }

  // CHECK-LABEL: @rows
  // CHECK: (tensor<64x64xf32, #warp_tile>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #warp_tile}>>
  // CHECK: tt.expand_dims {{.*}} -> tensor<64x1xf32, #warp_tile>
  // CHECK: tt.broadcast {{.*}} -> tensor<64x64xf32, #warp_tile>
  tt.func @rows(%a: tensor<64x64xf32, #tile>) -> tensor<64x64xf32, #tile> {
    %0 = "tt.reduce"(%a) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tt.reduce.return %s : f32
    }) : (tensor<64x64xf32, #tile>) -> tensor<64xf32, #rows>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xf32, #rows> -> tensor<64x1xf32, #tile>
    %2 = tt.broadcast %1 : tensor<64x1xf32, #tile> -> tensor<64x64xf32, #tile>
    %3 = arith.addf %a, %2 : tensor<64x64xf32, #tile>
    tt.return %3 : tensor<64x64xf32, #tile>
  }
}
