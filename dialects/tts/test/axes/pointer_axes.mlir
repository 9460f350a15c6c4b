// RUN: triton-ext-opt %s --load-extension=tts -triton-ext-print-analyses=axis=1 -verify-diagnostics -o %t

// What the dialect tts teaches the axis information about its pointers, by the interface InferAxisInfo.

// expected-remark @below {{argument 0: divisibility [16], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 1: divisibility [8], stride [1], stride value [0], constancy [1]}}
// expected-remark @below {{argument 2: divisibility [1], stride [1], stride value [0], constancy [1]}}
tt.func @pointers(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: index {tt.divisibility = 8 : i32}, %o: index) {
  // Columns are contiguous. The stride of rows is a multiple of 32 bytes, so each row begins at a multiple of 16 bytes.
  // expected-remark @below {{result 0: divisibility [4, 16], stride [1, 64], stride value [0, 4], constancy [1, 1]}}
  %0 = tts.make_tptr %p to sizes: [4, 64], strides: [%s, 1], offsets: [0, 8], shape: [0, 0], order: [] : <f32> to tensor<4x64x!tt.ptr<f32>>
  // An offset of which nothing is known leaves whole elements.
  // expected-remark @below {{result 0: divisibility [4], stride [64], stride value [8], constancy [1]}}
  %1 = tts.make_tptr %p to sizes: [64], strides: [2], offsets: [%o], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
  // What wraps around is not strided.
  // expected-remark @below {{result 0: divisibility [8], stride [1], stride value [0], constancy [1]}}
  %2 = tts.make_tptr %p to sizes: [64], strides: [2], offsets: [4], shape: [10], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
  // A block of a larger tensor does not.
  // expected-remark @below {{result 0: divisibility [16], stride [64], stride value [8], constancy [1]}}
  %3 = tts.make_tptr %p to sizes: [64], strides: [2], offsets: [4], shape: [10], order: [0] : <f32> to tensor<64x!tt.ptr<f32>>
  // A stride of 0.
  // expected-remark @below {{result 0: divisibility [16, 16], stride [8, 4], stride value [0, 16], constancy [8, 1]}}
  %4 = tts.make_tptr %p to sizes: [8, 4], strides: [0, 4], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x4x!tt.ptr<f32>>
  tt.return
}
