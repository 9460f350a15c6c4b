// RUN: triton-linalg-opt %s -triton-to-linalg -verify-diagnostics

tt.func @negative_asm(%x: tensor<8xf32>, %p: tensor<8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tt.elementwise_inline_asm' cannot be converted to linalg: the assembly is that of one kind of processor}}
  %0 = tt.elementwise_inline_asm "shl.b32 $0, $0, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf32>
  tt.store %p, %0 : tensor<8x!tt.ptr<f32>>
  tt.return
}
