// RUN: triton-ext-opt %s --load-extension=layout_ext -split-input-file -verify-diagnostics

// What the layouts are made of.

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// expected-error @+1 {{expected sizes that are powers of two, up to 1048576, got 48}}
tt.func private @f() attributes {l = #layout_ext.product<#a over [48], #a over [2]>}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// expected-error-re @+1 {{expected a shape of rank 1 for #ttg.blocked<{{.*}}>, got [32, 2]}}
tt.func private @f() attributes {l = #layout_ext.product<#a over [32, 2], #a over [2]>}

// -----

// expected-error @+1 {{expected #ttg.blocked, #ttg.linear or a layout of layout_ext, got 7 : i64}}
tt.func private @f() attributes {l = #layout_ext.product<7 over [32], 8 over [2]>}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>
// expected-error @+1 {{expected #ttg.blocked, #ttg.linear or a layout of layout_ext, got #ttg.swizzled_shared}}
tt.func private @f() attributes {l = #layout_ext.product<#shared over [32, 32], #shared over [2, 2]>}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
// expected-error @+1 {{expected layouts of the same rank, got [32] and [32, 1]}}
tt.func private @f() attributes {l = #layout_ext.product<#a over [32], #b over [32, 1]>}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// expected-error @+1 {{expected a shape of up to 1048576 elements, got [1024, 2048]}}
tt.func private @f() attributes {l = #layout_ext.product<#a over [1024, 2048], #a over [2048]>}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// expected-error @+1 {{expected sizes that are powers of two, up to 1048576, got 2097152}}
tt.func private @f() attributes {l = #layout_ext.product<#a over [1024], #a over [2048]>}

// -----

// Neighbours are in one lane of the tile, but in two lanes of the whole.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// expected-error-re @+1 {{expected a layout that is a product with the second one as its tile, got #ttg.blocked<{{.*}}> over [64] and #ttg.blocked<{{.*}}> over [2]}}
tt.func private @f() attributes {l = #layout_ext.quotient<#a over [64], #b over [2]>}

// -----

// The tile is larger than the whole.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// expected-error @+1 {{expected a layout that is a product with the second one as its tile}}
tt.func private @f() attributes {l = #layout_ext.quotient<#a over [32], #a over [128]>}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// expected-error @+1 {{expected a map of the shape [32], got one of [4]}}
tt.func private @f() attributes {l = #layout_ext.composed<#a over [32], #layout_ext.map<[[2], [1]]>>}

// -----

// The map takes one register to another row and another column.
#a = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
// expected-error @+1 {{LinearEncodingAttr requires a permutation matrix layout after removing broadcast bases}}
tt.func private @f() attributes {l = #layout_ext.composed<#a over [2, 2], #layout_ext.map<[[1, 0]], [[1, 1]]>>}

// -----

// Maps.

// expected-error @+1 {{expected a map that reaches every index}}
tt.func private @f() attributes {m = #layout_ext.map<[[1], [1]]>}

// -----

// expected-error @+1 {{expected vectors with one number for each of the 1 dimensions, got [1, 0]}}
tt.func private @f() attributes {m = #layout_ext.map<[[1, 0]]>}

// -----

// expected-error @+1 {{expected indices of the shape that the numbers of vectors give, got [2]}}
tt.func private @f() attributes {m = #layout_ext.map<[[2]]>}

// -----

// expected-error @+1 {{expected indices of the shape that the numbers of vectors give, got [-1]}}
tt.func private @f() attributes {m = #layout_ext.map<[[-1]]>}

// -----

// expected-error @+1 {{expected up to 20 vectors, got 21}}
tt.func private @f() attributes {m = #layout_ext.map<[[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1]]>}

// -----

// Tiles of warps.

// expected-error @+1 {{expected an order of the 2 dimensions of the tile, got [0, 0]}}
tt.func private @f() attributes {l = #layout_ext.warp_tile<{tile = [32, 32], vec = 1, order = [0, 0], warps = [1, 1], lanes = 32}>}

// -----

// expected-error @+1 {{expected warps along the 2 dimensions of the tile, got [4]}}
tt.func private @f() attributes {l = #layout_ext.warp_tile<{tile = [32, 32], vec = 1, order = [0, 1], warps = [4], lanes = 32}>}

// -----

// expected-error @+1 {{expected sizes that are powers of two, up to 1048576, got 24}}
tt.func private @f() attributes {l = #layout_ext.warp_tile<{tile = [32, 24], vec = 1, order = [0, 1], warps = [1, 1], lanes = 32}>}

// -----

// expected-error @+1 {{expected sizes that are powers of two, up to 1048576, got 3}}
tt.func private @f() attributes {l = #layout_ext.warp_tile<{tile = [32, 32], vec = 1, order = [0, 1], warps = [3, 1], lanes = 32}>}

// -----

// expected-error @+1 {{expected a power of two of lanes, up to 64, got 33}}
tt.func private @f() attributes {l = #layout_ext.warp_tile<{tile = [32, 32], vec = 1, order = [0, 1], warps = [1, 1], lanes = 33}>}

// -----

// expected-error @+1 {{expected vec to be a power of two, up to the 8 elements of the tile along dimension 1, got 16}}
tt.func private @f() attributes {l = #layout_ext.warp_tile<{tile = [32, 8], vec = 16, order = [1, 0], warps = [1, 1], lanes = 2}>}

// -----

// expected-error @+1 {{expected a tile of at least vec * lanes = 128 elements, got [8, 8]}}
tt.func private @f() attributes {l = #layout_ext.warp_tile<{tile = [8, 8], vec = 4, order = [0, 1], warps = [1, 1], lanes = 32}>}

// -----

// Types.

#tile = #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [0, 1], warps = [2, 2], lanes = 32}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: tensor<64x64x!tt.ptr<f32>, #tile>) {
    // expected-error @+1 {{Layout has 4 warps per CTA, but the context requires 8 warps per CTA}}
    %0 = tt.load %a : tensor<64x64x!tt.ptr<f32>, #tile>
    tt.return
  }
}

// -----

#tile = #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [0, 1], warps = [2, 2], lanes = 32}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%a: tensor<64x64x!tt.ptr<f32>, #tile>) {
    // expected-error @+1 {{Layout has 32 threads per warp, but the module specifies 64 threads per warp}}
    %0 = tt.load %a : tensor<64x64x!tt.ptr<f32>, #tile>
    tt.return
  }
}

// -----

#tile = #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [0, 1], warps = [2, 2], lanes = 32}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: tensor<64x!tt.ptr<f32>, #tile>) {
    // expected-error-re @+1 {{expected a tensor of rank 2 for #layout_ext.warp_tile<{{.*}}>, got 'tensor<64x!tt.ptr<f32>,}}
    %0 = tt.load %a : tensor<64x!tt.ptr<f32>, #tile>
    tt.return
  }
}

// -----

#map = #layout_ext.map<[[2], [1]]>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: tensor<4x!tt.ptr<f32>, #map>) {
    // expected-error @+1 {{expected a layout of a tensor, got #layout_ext.map}}
    %0 = tt.load %a : tensor<4x!tt.ptr<f32>, #map>
    tt.return
  }
}

// -----

// Shared memory.

// expected-error @+1 {{expected a tile of two dimensions, got [2]}}
tt.func private @f() attributes {l = #layout_ext.swizzled_tiles<{tile = [2], phases = 8}>}

// -----

// expected-error @+1 {{expected a tile of sizes that are powers of two, up to 1024, got [2, 3]}}
tt.func private @f() attributes {l = #layout_ext.swizzled_tiles<{tile = [2, 3], phases = 8}>}

// -----

// expected-error @+1 {{expected phases to be a power of two, up to 1024, got 0}}
tt.func private @f() attributes {l = #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 0}>}

// -----

#tiles = #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: tensor<4x4x!tt.ptr<f32>, #tiles>) {
    // expected-error @+1 {{expected a layout of a tensor, got #layout_ext.swizzled_tiles}}
    %0 = tt.load %a : tensor<4x4x!tt.ptr<f32>, #tiles>
    tt.return
  }
}

// -----

#tiles = #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>
// expected-error @+1 {{rank must be equal to or one less than the shape size. Got 2 and 1}}
tt.func private @f(!ttg.memdesc<64xf32, #tiles, #ttg.shared_memory>)

// -----

#tile = #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [0, 1], warps = [2, 2], lanes = 32}>
// expected-error @+1 {{#layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [0, 1], warps = [2, 2], lanes = 32}> is not a valid encoding}}
tt.func private @f(!ttg.memdesc<64x64xf32, #tile, #ttg.shared_memory>)

// -----

#tiles = #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>
// expected-error @+1 {{expected #ttg.blocked, #ttg.linear or a layout of layout_ext, got #layout_ext.swizzled_tiles}}
tt.func private @f() attributes {l = #layout_ext.product<#tiles over [32, 32], #tiles over [2, 2]>}

// -----

// One block only.
#tiles = #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error @+1 {{Layout has 1 CTAs per CGA, but the context requires 2 CTAs per CGA}}
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #tiles, #ttg.shared_memory, mutable>
    tt.return
  }
}
