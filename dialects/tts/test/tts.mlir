// RUN: triton-ext-opt %s --load-extension=tts -split-input-file -o %t.once
// RUN: triton-ext-opt %t.once --load-extension=tts -split-input-file -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: FileCheck %s < %t.once

// The forms are those that triton-shared prints, except for tensors of pointers in place of pointers to tensors, which
// Triton does not have any more.

// CHECK-LABEL: tt.func @pointers
// CHECK: tts.make_tptr %{{.*}} to sizes: [4, 256], strides: [1, %{{.*}}], offsets: [%{{.*}}, 0], shape: [0, 0], order: [] : <f32> to tensor<4x256x!tt.ptr<f32>>
// CHECK: tts.make_tptr %{{.*}} to sizes: [64], strides: [-1], offsets: [-8], shape: [%{{.*}}], order: [] {tt.divisibility = dense<16> : tensor<1xi32>} : <f32> to tensor<64x!tt.ptr<f32>>
// CHECK: tts.make_tptr %{{.*}} to sizes: [2, 2], strides: [2, 1], offsets: [0, 0], shape: [2, 2], order: [1, 0] : <bf16> to tensor<2x2x!tt.ptr<bf16>>
// CHECK: tts.make_gather_scatter_tptr %{{.*}} to sizes: [32, 8] gather_scatter_dim: 0 gather_scatter_offset: %{{.*}}, strides: [%{{.*}}, 1], offsets: [0, %{{.*}}] : tensor<32xi32> <f32> to tensor<32x8x!tt.ptr<f32>>
// CHECK: tts.make_gather_scatter_tptr %{{.*}} to sizes: [4] gather_scatter_dim: 0 gather_scatter_offset: %{{.*}} gather_scatter_mask: %{{.*}}, strides: [1], offsets: [0] : tensor<4xi64> tensor<4xi1> <f32> to tensor<4x!tt.ptr<f32>>
tt.func @pointers(%x: !tt.ptr<f32>, %y: !tt.ptr<bf16>, %n: index, %rows: tensor<32xi32>, %some: tensor<4xi64>, %m: tensor<4xi1>) {
  %0 = tts.make_tptr %x to sizes: [4, 256], strides: [1, %n], offsets: [%n, 0], shape: [0, 0], order: [] : <f32> to tensor<4x256x!tt.ptr<f32>>
  %1 = tts.make_tptr %x to sizes: [64], strides: [-1], offsets: [-8], shape: [%n], order: [] {tt.divisibility = dense<16> : tensor<1xi32>} : <f32> to tensor<64x!tt.ptr<f32>>
  %2 = tts.make_tptr %y to sizes: [2, 2], strides: [2, 1], offsets: [0, 0], shape: [2, 2], order: [1, 0] : !tt.ptr<bf16> to tensor<2x2x!tt.ptr<bf16>>
  %3 = tts.make_gather_scatter_tptr %x to sizes: [32, 8] gather_scatter_dim: 0 gather_scatter_offset: %rows, strides: [%n, 1], offsets: [0, %n] : tensor<32xi32>  <f32> to tensor<32x8x!tt.ptr<f32>>
  %4 = tts.make_gather_scatter_tptr %x to sizes: [4] gather_scatter_dim: 0 gather_scatter_offset: %some gather_scatter_mask: %m, strides: [1], offsets: [0] : tensor<4xi64> tensor<4xi1> <f32> to tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

// Meta's form has the base, Microsoft's has not.
// CHECK-LABEL: tt.func @states
// CHECK: %{{.*}}:3 = "tts.get_structured_state"(%{{.*}}) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<16x!tt.ptr<f32>>) -> (tensor<16x!tt.ptr<f32>>, index, index)
// CHECK: %{{.*}}:6 = "tts.get_structured_state"(%{{.*}}) <{resultSegmentSizes = array<i32: 1, 2, 2, 1>}> : (tensor<4x16x!tt.ptr<bf16>>) -> (tensor<4x16x!tt.ptr<bf16>>, index, index, index, index, !tt.ptr<bf16>)
// CHECK: %{{.*}}:2 = "tts.get_structured_state"(%{{.*}}) <{resultSegmentSizes = array<i32: 1, 1, 0>}> : (!tt.ptr<f32>) -> (!tt.ptr<f32>, index)
// CHECK: %{{.*}}:3 = "tts.get_structured_state"(%{{.*}}) <{resultSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<8xi64>) -> (tensor<8xi64>, index, index)
tt.func @states(%a: tensor<16x!tt.ptr<f32>>, %b: tensor<4x16x!tt.ptr<bf16>>, %c: !tt.ptr<f32>, %d: tensor<8xi64>) {
  %structured, %offsets, %strides = "tts.get_structured_state"(%a) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<16x!tt.ptr<f32>>) -> (tensor<16x!tt.ptr<f32>>, index, index)
  %0:6 = "tts.get_structured_state"(%b) <{resultSegmentSizes = array<i32: 1, 2, 2, 1>}> : (tensor<4x16x!tt.ptr<bf16>>) -> (tensor<4x16x!tt.ptr<bf16>>, index, index, index, index, !tt.ptr<bf16>)
  %1:2 = "tts.get_structured_state"(%c) <{resultSegmentSizes = array<i32: 1, 1, 0>}> : (!tt.ptr<f32>) -> (!tt.ptr<f32>, index)
  %2:3 = "tts.get_structured_state"(%d) <{resultSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<8xi64>) -> (tensor<8xi64>, index, index)
  tt.return
}

// -----

// CHECK-LABEL: tt.func @structured
// CHECK: "tts.load"(%{{.*}}) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x64x!tt.ptr<f32>>) -> tensor<4x64xf32>
// CHECK: "tts.load"(%{{.*}}, %{{.*}}, %{{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 8>}> : (tensor<4x64x!tt.ptr<f32>>, index, f32) -> tensor<4x64xf32>
// CHECK: "tts.store"(%{{.*}}, %{{.*}}, %{{.*}}) <{static_mask_dims = array<i64: 0, -9223372036854775808>}> : (tensor<4x64x!tt.ptr<f32>>, tensor<4x64xf32>, index) -> ()
tt.func @structured(%p: tensor<4x64x!tt.ptr<f32>>, %n: index, %other: f32) {
  %0 = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x64x!tt.ptr<f32>>) -> tensor<4x64xf32>
  %1 = "tts.load"(%p, %n, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 8>}> : (tensor<4x64x!tt.ptr<f32>>, index, f32) -> tensor<4x64xf32>
  "tts.store"(%p, %1, %n) <{static_mask_dims = array<i64: 0, -9223372036854775808>}> : (tensor<4x64x!tt.ptr<f32>>, tensor<4x64xf32>, index) -> ()
  tt.return
}

// -----

// CHECK-LABEL: tt.func @unstructured
// CHECK: tts.gather %{{.*}}[%{{.*}}] : (<f32>, tensor<64xi32>) -> tensor<64xf32>
// CHECK: tts.gather %{{.*}}[%{{.*}}] mask = %{{.*}} default = %{{.*}} : (<f32>, tensor<64xi32>) -> tensor<64xf32>
// CHECK: tts.gather %{{.*}}[%{{.*}}] : (<f32>, i64) -> f32
// CHECK: tts.scatter %{{.*}} into %{{.*}}[%{{.*}}] mask = %{{.*}} : tensor<64xf32> into (<f32>, tensor<64xi32>)
// CHECK: tts.scatter %{{.*}} into %{{.*}}[%{{.*}}] : f32 into (<f32>, i64)
tt.func @unstructured(%x: !tt.ptr<f32>, %i: tensor<64xi32>, %j: i64, %m: tensor<64xi1>, %other: f32) {
  %0 = tts.gather %x[%i] : (!tt.ptr<f32>, tensor<64xi32>) -> tensor<64xf32>
  %1 = tts.gather %x[%i] mask = %m default = %other : (<f32>, tensor<64xi32>) -> tensor<64xf32>
  %2 = tts.gather %x[%j] : (<f32>, i64) -> f32
  tts.scatter %1 into %x[%i] mask = %m : tensor<64xf32> into (<f32>, tensor<64xi32>)
  tts.scatter %2 into %x[%j] : f32 into (!tt.ptr<f32>, i64)
  tt.return
}

// -----

// CHECK-LABEL: tt.func @atomics
// CHECK: tts.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}} {static_mask_dims = array<i64>} : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> tensor<16xf32>
// CHECK: tts.atomic_rmw exch, relaxed, sys, %{{.*}}, %{{.*}}, %{{.*}} {static_mask_dims = array<i64: -9223372036854775808>} : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, index) -> tensor<16xf32>
// CHECK: tts.atomic_rmw fadd, relaxed, gpu, %{{.*}} into %{{.*}}[%{{.*}}] mask = %{{.*}} {mine} : tensor<16xf32> into (<f32>, tensor<16xi32>) -> tensor<16xf32>
// CHECK: tts.atomic_rmw exch, acquire, cta, %{{.*}} into %{{.*}}[%{{.*}}] mask = %{{.*}} : f32 into (<f32>, i32) -> f32
// CHECK: tts.atomic_rmw umax, release, cta, %{{.*}} into %{{.*}}[%{{.*}}] : tensor<?xi32> into (<i32>, tensor<?xi32>) -> tensor<?xi32>
// CHECK: tts.atomic_cas relaxed, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
// CHECK: tts.atomic_cas acq_rel, gpu, %{{.*}}, %{{.*}} into %{{.*}}[%{{.*}}] : f32, f32 into (<f32>, i32) -> f32
tt.func @atomics(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>, %x: !tt.ptr<f32>, %i: tensor<16xi32>, %m: tensor<16xi1>,
                 %n: index, %s: f32, %j: i32, %b: i1, %z: !tt.ptr<i32>, %any: tensor<?xi32>) {
  %0 = tts.atomic_rmw fadd, acq_rel, gpu, %p, %v {static_mask_dims = array<i64>} : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> tensor<16xf32>
  %1 = tts.atomic_rmw exch, relaxed, sys, %p, %v, %n {static_mask_dims = array<i64: -9223372036854775808>} : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, index) -> tensor<16xf32>
  %2 = tts.atomic_rmw fadd, relaxed, gpu, %v into %x[%i] mask = %m {mine} : tensor<16xf32> into (<f32>, tensor<16xi32>) -> tensor<16xf32>
  %3 = tts.atomic_rmw exch, acquire, cta, %s into %x[%j] mask = %b : f32 into (!tt.ptr<f32>, i32) -> f32
  %4 = tts.atomic_rmw umax, release, cta, %any into %z[%any] : tensor<?xi32> into (!tt.ptr<i32>, tensor<?xi32>) -> tensor<?xi32>
  %5 = tts.atomic_cas relaxed, gpu, %p, %v, %v : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %6 = tts.atomic_cas acq_rel, gpu, %s, %s into %x[%j] : f32, f32 into (<f32>, i32) -> f32
  tt.return
}
