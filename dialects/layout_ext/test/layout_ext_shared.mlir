// RUN: triton-ext-opt %s --load-extension=layout_ext | triton-ext-opt --load-extension=layout_ext | FileCheck %s

// CHECK: #[[TILES:shared[0-9]*]] = #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>

#tiles = #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>
// The same with the dimensions exchanged, as a list of vectors.
#transposed = #ttg.shared_linear<{offset = [[1, 0], [0, 1], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [2, 2], [4, 4], [8, 8], [0, 16], [0, 32]]}, alignment = 128>
#rows = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @buffer
  // CHECK: %[[B:.*]] = ttg.local_alloc %arg0 : {{.*}} -> !ttg.memdesc<64x64xf32, #[[TILES]], #smem>
  // CHECK: ttg.memdesc_trans %[[B]] {{.*}} : !ttg.memdesc<64x64xf32, #[[TILES]], #smem> -> !ttg.memdesc<64x64xf32, #shared{{[0-9]*}}, #smem>
  tt.func @buffer(%a: tensor<64x64xf32, #rows>) {
    %0 = ttg.local_alloc %a : (tensor<64x64xf32, #rows>) -> !ttg.memdesc<64x64xf32, #tiles, #smem>
    %1 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf32, #tiles, #smem> -> !ttg.memdesc<64x64xf32, #transposed, #smem>
    tt.return
  }
}
