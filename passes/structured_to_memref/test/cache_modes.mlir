// RUN: triton-ext-opt %s --load-extension=tts -triton-ext-structured-to-memref | FileCheck %s

// CHECK-LABEL: tt.func @modes
// CHECK: aux.view {{.*}} {cache_mode = "cmnormal"}
// CHECK: aux.view {{.*}} {cache_mode = "cmtransient"}
// CHECK: aux.view %{{[^{]*$}}
tt.func @modes(%x: !tt.ptr<f32>) {
  %p = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>, operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  "tts.store"(%p, %v) <{cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> ()
  "tts.store"(%p, %v) <{static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> ()
  tt.return
}
