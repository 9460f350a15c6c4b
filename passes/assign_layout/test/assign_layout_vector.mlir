// RUN: triton-ext-opt %s -triton-ext-assign-layout="kind=load vector=4" | FileCheck %s --check-prefix=ROWS
// RUN: triton-ext-opt %s -triton-ext-assign-layout="kind=load vector=2 dimension=1" | FileCheck %s --check-prefix=COLUMNS

// The layout of each tensor has its rank, and the kernel's 8 warps.

// ROWS-DAG: #[[LINE:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
// ROWS-DAG: #[[TILE:.*]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 8], order = [0, 1]}>
// ROWS: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[LINE]]>
// ROWS: tt.load {{.*}} : tensor<32x64x!tt.ptr<f16>, #[[TILE]]>
// COLUMNS-DAG: #[[OLD:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
// COLUMNS-DAG: #[[TILE:.*]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
// COLUMNS: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[OLD]]>
// COLUMNS: tt.load {{.*}} : tensor<32x64x!tt.ptr<f16>, #[[TILE]]>
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @kernel(%p: tensor<1024x!tt.ptr<f32>, #a>, %q: tensor<32x64x!tt.ptr<f16>, #b>) -> (tensor<1024xf32, #a>, tensor<32x64xf16, #b>) {
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #a>
    %w = tt.load %q : tensor<32x64x!tt.ptr<f16>, #b>
    tt.return %v, %w : tensor<1024xf32, #a>, tensor<32x64xf16, #b>
  }
}
