// RUN: triton-ext-opt %s --load-extension=tts -cse -split-input-file | FileCheck %s

// An access of tts that writes stays between two tt.load: both are effects on Triton's global memory, although the
// dialects are compiled into two libraries. CSE merges the third load with the second, which shows that it looks at
// them.

// CHECK-LABEL: tt.func @store
// CHECK: %[[A:.*]] = tt.load
// CHECK: "tts.store"
// CHECK: %[[B:.*]] = tt.load
// CHECK-NOT: tt.load
// CHECK: tt.return %[[A]], %[[B]], %[[B]]
tt.func @store(%x: !tt.ptr<f32>, %p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>) -> (f32, f32, f32) {
  %a = tt.load %x : !tt.ptr<f32>
  "tts.store"(%p, %v) <{static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> ()
  %b = tt.load %x : !tt.ptr<f32>
  %c = tt.load %x : !tt.ptr<f32>
  tt.return %a, %b, %c : f32, f32, f32
}

// -----

// CHECK-LABEL: tt.func @scatter
// CHECK: %[[A:.*]] = tt.load
// CHECK: tts.scatter
// CHECK: %[[B:.*]] = tt.load
// CHECK-NOT: tt.load
// CHECK: tt.return %[[A]], %[[B]], %[[B]]
tt.func @scatter(%x: !tt.ptr<f32>, %i: i32, %v: f32) -> (f32, f32, f32) {
  %a = tt.load %x : !tt.ptr<f32>
  tts.scatter %v into %x[%i] : f32 into (<f32>, i32)
  %b = tt.load %x : !tt.ptr<f32>
  %c = tt.load %x : !tt.ptr<f32>
  tt.return %a, %b, %c : f32, f32, f32
}

// -----

// CHECK-LABEL: tt.func @atomics
// CHECK: %[[A:.*]] = tt.load
// CHECK: tts.atomic_rmw
// CHECK: %[[B:.*]] = tt.load
// CHECK: tts.atomic_cas
// CHECK: %[[C:.*]] = tt.load
// CHECK: tt.return %[[A]], %[[B]], %[[C]]
tt.func @atomics(%x: !tt.ptr<f32>, %i: i32, %v: f32) -> (f32, f32, f32) {
  %a = tt.load %x : !tt.ptr<f32>
  %0 = tts.atomic_rmw fadd, acq_rel, gpu, %v into %x[%i] : f32 into (<f32>, i32) -> f32
  %b = tt.load %x : !tt.ptr<f32>
  %1 = tts.atomic_cas acq_rel, gpu, %v, %v into %x[%i] : f32, f32 into (<f32>, i32) -> f32
  %c = tt.load %x : !tt.ptr<f32>
  tt.return %a, %b, %c : f32, f32, f32
}

// -----

// Loads of tts merge with each other, but not across a tt.store.
// CHECK-LABEL: tt.func @loads
// CHECK: %[[A:.*]] = "tts.load"
// CHECK: %[[G:.*]] = tts.gather
// CHECK-NOT: tts.
// CHECK: tt.store
// CHECK: %[[B:.*]] = "tts.load"
// CHECK: %[[H:.*]] = tts.gather
// CHECK: tt.return %[[A]], %[[A]], %[[B]], %[[G]], %[[G]], %[[H]]
tt.func @loads(%x: !tt.ptr<f32>, %p: tensor<8x!tt.ptr<f32>>, %i: i32, %v: f32)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, f32, f32, f32) {
  %a = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  %b = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  %g = tts.gather %x[%i] : (<f32>, i32) -> f32
  %h = tts.gather %x[%i] : (<f32>, i32) -> f32
  tt.store %x, %v : !tt.ptr<f32>
  %c = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  %k = tts.gather %x[%i] : (<f32>, i32) -> f32
  tt.return %a, %b, %c, %g, %h, %k : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, f32, f32, f32
}

// -----

// Pointers without a use go, and equal ones become one.
// CHECK-LABEL: tt.func @pure
// CHECK-NEXT: %[[P:.*]] = tts.make_tptr
// CHECK-NEXT: tt.return %[[P]], %[[P]]
tt.func @pure(%x: !tt.ptr<f32>, %i: tensor<8xi32>) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) {
  %0 = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %1 = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %2 = tts.make_gather_scatter_tptr %x to sizes: [8] gather_scatter_dim: 0 gather_scatter_offset: %i, strides: [1], offsets: [0] : tensor<8xi32> <f32> to tensor<8x!tt.ptr<f32>>
  %3:3 = "tts.get_structured_state"(%0) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<8x!tt.ptr<f32>>) -> (tensor<8x!tt.ptr<f32>>, index, index)
  tt.return %0, %1 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
}
