// RUN: triton-ext-opt %s --load-extension=layout_ext | triton-ext-opt --load-extension=layout_ext | FileCheck %s

// Every layout is printed as it is read, with a name at the top of the module.
// CHECK-DAG: #[[ROW:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
// CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
// CHECK-DAG: #[[LANES:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[WARPS:.*]] = #ttg.linear<{register = [], lane = [], warp = {{\[\[}}1, 0], [0, 1]], block = []}>
// CHECK-DAG: #[[WARP:.*]] = #ttg.linear<{register = [], lane = [], warp = {{\[\[}}0, 1]], block = []}>
// CHECK-DAG: #[[PRODUCT:.*]] = #layout_ext.product<#[[ROW]] over [16, 32], #[[WARPS]] over [2, 2]>
// CHECK-DAG: #[[QUOTIENT:.*]] = #layout_ext.quotient<#[[ROWS]] over [64, 32], #[[ROW]] over [4, 32]>
// CHECK-DAG: #[[INNER:.*]] = #layout_ext.product<#[[ROW]] over [4, 32], #[[QUOTIENT]] over [16, 1]>
// CHECK-DAG: #[[BOTH:.*]] = #layout_ext.product<#[[INNER]] over [64, 32], #[[WARP]] over [1, 2]>
// CHECK-DAG: #[[REVERSAL:.*]] = #layout_ext.map<{{\[\[}}16], [8], [4], [2], [1]]>
// CHECK-DAG: #[[REVERSED:.*]] = #layout_ext.composed<#[[LANES]] over [32], #[[REVERSAL]]>
// CHECK-DAG: #[[TILE:.*]] = #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [0, 1], warps = [2, 2], lanes = 32}>
// CHECK-DAG: #[[MAP:.*]] = #layout_ext.map<{{\[\[}}1, 1], [2, 2]], {{\[\[}}0, 1], [0, 2], [0, 4]]>

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#two_warps = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#warps = #ttg.linear<{register = [], lane = [], warp = [[1, 0], [0, 1]], block = []}>
#lanes = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

#product = #layout_ext.product<#row over [16, 32], #warps over [2, 2]>
#quotient = #layout_ext.quotient<#two_warps over [64, 32], #row over [4, 32]>
#both = #layout_ext.product<#layout_ext.product<#row over [4, 32], #quotient over [16, 1]> over [64, 32],
    #ttg.linear<{register = [], lane = [], warp = [[0, 1]], block = []}> over [1, 2]>
#reversed = #layout_ext.composed<#lanes over [32], #layout_ext.map<[[16], [8], [4], [2], [1]]>>
#tile = #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [0, 1], warps = [2, 2], lanes = 32}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: @product(%arg0: tensor<32x64xf32, #[[PRODUCT]]>)
  tt.func @product(%a: tensor<32x64xf32, #product>) {
    tt.return
  }
  // A layout of layouts that are made of layouts.
  // CHECK: @both(%arg0: tensor<64x64xf32, #[[BOTH]]>)
  tt.func @both(%a: tensor<64x64xf32, #both>) {
    tt.return
  }
  // CHECK: @reversed(%arg0: tensor<128xf32, #[[REVERSED]]>)
  tt.func @reversed(%a: tensor<128xf32, #reversed>) {
    tt.return
  }
  // CHECK: @tile(%arg0: tensor<64x64xf32, #[[TILE]]>)
  tt.func @tile(%a: tensor<64x64xf32, #tile>) {
    tt.return
  }
  // A map of two dimensions that mixes them is a map, though not one for a layout of a tensor.
  // CHECK: @map() attributes {map = #[[MAP]]}
  tt.func private @map() attributes {map = #layout_ext.map<[[1, 1], [2, 2]], [[0, 1], [0, 2], [0, 4]]>}
}
