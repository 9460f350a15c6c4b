// RUN: triton-ext-opt %s -triton-ext-triton-to-linalg-structured -verify-diagnostics

tt.func @volatile(%x: !tt.ptr<f32>) -> tensor<8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-error @below {{'tt.load' cannot be converted to linalg: no structured load is volatile}}
  %v = tt.load %p {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}
