// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Triton's passes: a vector addition, from tensors without
// layouts to one in which each thread loads 16 bytes at once.

// RUN: triton-ext-opt %s -convert-triton-to-tritongpu='target=cuda:80 num-warps=4' | FileCheck %s --check-prefix=LAYOUT
// RUN: triton-ext-opt %s -convert-triton-to-tritongpu='target=cuda:80 num-warps=4' -tritongpu-coalesce | FileCheck %s --check-prefix=COALESCE

// Every tensor gets the one layout that suits any program.
// LAYOUT: #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// LAYOUT-NOT: #blocked1 =
// LAYOUT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}
// LAYOUT-LABEL: tt.func public @add_kernel
// LAYOUT: tt.make_range {{.*}} : tensor<1024xi32, #blocked>
// LAYOUT-COUNT-2: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #blocked>
// LAYOUT: arith.addf {{.*}} : tensor<1024xf32, #blocked>
// LAYOUT: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #blocked>
// Not one is left without.
// LAYOUT-NOT: tensor<1024xf32>
// LAYOUT-NOT: ttg.convert_layout

// Loads and stores get their own, four elements per thread, and conversions
// around them; the arithmetic keeps what it had.
// COALESCE: #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// COALESCE: #blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// COALESCE-LABEL: tt.func public @add_kernel
// COALESCE: %[[XP:.*]] = ttg.convert_layout %{{.*}} : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
// COALESCE: %[[X:.*]] = tt.load %[[XP]], %{{.*}} : tensor<1024x!tt.ptr<f32>, #blocked1>
// COALESCE: %[[XA:.*]] = ttg.convert_layout %[[X]] : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
// COALESCE: tt.load {{.*}} #blocked1>
// COALESCE: %[[SUM:.*]] = arith.addf %[[XA]], %{{.*}} : tensor<1024xf32, #blocked>
// COALESCE: %[[OUT:.*]] = ttg.convert_layout %[[SUM]] : tensor<1024xf32, #blocked> -> tensor<1024xf32, #blocked1>
// COALESCE: tt.store %{{.*}}, %[[OUT]], %{{.*}} : tensor<1024x!tt.ptr<f32>, #blocked1>
tt.func public @add_kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c1024 = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c1024 : i32
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %splat = tt.splat %start : i32 -> tensor<1024xi32>
  %offs = arith.addi %splat, %range : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %offs, %ns : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %offs : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %xv = tt.load %xp, %mask : tensor<1024x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %offs : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %yv = tt.load %yp, %mask : tensor<1024x!tt.ptr<f32>>
  %sum = arith.addf %xv, %yv : tensor<1024xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %op = tt.addptr %os, %offs : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %op, %sum, %mask : tensor<1024x!tt.ptr<f32>>
  tt.return
}
