// RUN: triton-linalg-opt %s --load-extension=tts -convert-triton-to-linalg -split-input-file -verify-diagnostics
// RUN: triton-linalg-opt %s --load-extension=tts -lower-structured -convert-triton-to-linalg -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @gathered
// CHECK: linalg_ext.gather
tt.func @gathered(%p: !tt.ptr<f32>, %i: tensor<8xi32>) -> tensor<8xf32> {
  // expected-error @+1 {{'tts.gather' cannot be converted to linalg: it is structured (run -lower-structured first, or -triton-to-linalg-structured)}}
  %0 = tts.gather %p[%i] : (!tt.ptr<f32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @strided
// CHECK: aux.view
tt.func @strided(%p: !tt.ptr<f32>) -> tensor<8xf32> {
  // expected-error @+1 {{'tts.make_tptr' cannot be converted to linalg: it is structured}}
  %0 = tts.make_tptr %p to sizes: [8], strides: [3], offsets: [0], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  // expected-error @+1 {{'tts.load' cannot be converted to linalg: it is structured}}
  %1 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  tt.return %1 : tensor<8xf32>
}
