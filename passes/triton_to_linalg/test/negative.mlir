// RUN: triton-linalg-opt %s -triton-to-linalg -split-input-file -verify-diagnostics

tt.func @negative_asm(%x: tensor<8xf32>, %p: tensor<8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tt.elementwise_inline_asm' cannot be converted to linalg: the assembly is that of one kind of processor}}
  %0 = tt.elementwise_inline_asm "bar.sync 0;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf32>
  tt.store %p, %0 : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @negative_reduce(%d: !tt.tensordesc<8x16xi32>, %v: tensor<8x16xi32>, %i: i32) {
  // expected-error @+1 {{'tt.descriptor_reduce' cannot be converted to linalg: no atomic is 'inc' of 'i32'}}
  tt.descriptor_reduce inc, %d[%i, %i], %v : !tt.tensordesc<8x16xi32>, tensor<8x16xi32>
  // expected-error @+1 {{'tt.descriptor_reduce' cannot be converted to linalg: no atomic is 'min' of 'i32'}}
  tt.descriptor_reduce min, %d[%i, %i], %v : !tt.tensordesc<8x16xi32>, tensor<8x16xi32>
  tt.return
}
