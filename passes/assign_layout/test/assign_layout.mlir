// RUN: triton-ext-opt %s -triton-ext-assign-layout="kind=load layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>'" | FileCheck %s --check-prefixes=CHECK,LOAD
// RUN: triton-ext-opt %s -triton-ext-assign-layout="op=tt.store layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>'" | FileCheck %s --check-prefixes=CHECK,STORE
// RUN: triton-ext-opt %s -triton-ext-assign-layout="line=7 layout='#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>'" | FileCheck %s --check-prefixes=CHECK,LINE

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[OLD:.*]] = #ttg.blocked<{sizePerThread = [1]
  // CHECK-DAG: #[[NEW:.*]] = #ttg.blocked<{sizePerThread = [4]
  // CHECK-LABEL: @kernel(
  tt.func @kernel(%p: tensor<1024x!tt.ptr<f32>, #a>, %m: tensor<1024xi1, #a>) {
    // The operands are converted, and the result back.
    // LOAD-DAG: %[[P:.*]] = ttg.convert_layout %arg0 : {{.*}} -> tensor<1024x!tt.ptr<f32>, #[[NEW]]>
    // LOAD-DAG: %[[M:.*]] = ttg.convert_layout %arg1 : {{.*}} -> tensor<1024xi1, #[[NEW]]>
    // LOAD: %[[L:.*]] = tt.load %[[P]], %[[M]] : tensor<1024x!tt.ptr<f32>, #[[NEW]]>
    // LOAD-NEXT: %[[V:.*]] = ttg.convert_layout %[[L]] : tensor<1024xf32, #[[NEW]]> -> tensor<1024xf32, #[[OLD]]>
    // LOAD: arith.addf %[[V]], %{{.*}} : tensor<1024xf32, #[[OLD]]>
    // LOAD-NEXT: tt.store %arg0
    // STORE: tt.load %arg0, %arg1 : tensor<1024x!tt.ptr<f32>, #[[OLD]]>
    // STORE: %[[S:.*]] = arith.addf
    // STORE-DAG: ttg.convert_layout %arg0
    // STORE-DAG: ttg.convert_layout %[[S]] : tensor<1024xf32, #[[OLD]]> -> tensor<1024xf32, #[[NEW]]>
    // STORE: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[NEW]]>
    // The constant has its layout in its value, too.
    // LINE: tt.load %arg0, %arg1 : tensor<1024x!tt.ptr<f32>, #[[OLD]]>
    // LINE: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<1024xf32, #[[NEW]]>
    // LINE-NEXT: ttg.convert_layout %[[C]] : tensor<1024xf32, #[[NEW]]> -> tensor<1024xf32, #[[OLD]]>
    // LINE: arith.addf {{.*}} : tensor<1024xf32, #[[NEW]]>
    // LINE: tt.store %arg0, %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[OLD]]>
    %v = tt.load %p, %m : tensor<1024x!tt.ptr<f32>, #a> loc("k.py":6:1)
    %c = arith.constant dense<1.0> : tensor<1024xf32, #a> loc(callsite("f.py":7:1 at "k.py":9:1))
    %s = arith.addf %v, %c : tensor<1024xf32, #a> loc("s"("k.py":7:1))
    tt.store %p, %s : tensor<1024x!tt.ptr<f32>, #a> loc("k.py":8:1)
    tt.return
  }
}
