// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics -triton-ext-descriptor-to-structured
// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics -triton-ext-triton-to-linalg-structured=descriptors=pointers
// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics -triton-ext-triton-to-linalg

// Triton's verifiers accept these, and its own pass aborts.
tt.func @too_few(%d: !tt.tensordesc<1x16xbf16>, %i: i32) {
  // expected-error @+1 {{expected 2 indices for a block of '!tt.tensordesc<1x16xbf16>', got 1}}
  %v = tt.descriptor_load %d[%i] : !tt.tensordesc<1x16xbf16> -> tensor<16xbf16>
  // expected-error @+1 {{expected 2 indices for a block of '!tt.tensordesc<1x16xbf16>', got 3}}
  tt.descriptor_store %d[%i, %i, %i], %v : !tt.tensordesc<1x16xbf16>, tensor<16xbf16>
  tt.return
}

// -----

tt.func @too_many(%d: !tt.tensordesc<16xi32>, %i: i32, %v: tensor<16xi32>) {
  // expected-error @+1 {{expected 1 indices for a block of '!tt.tensordesc<16xi32>', got 2}}
  tt.descriptor_reduce add, %d[%i, %i], %v : !tt.tensordesc<16xi32>, tensor<16xi32>
  tt.return
}

// -----

// expected-error @+1 {{expected a descriptor of a block of numbers with at least one dimension, got '!tt.tensordesc<16x!tt.ptr<f32>>'}}
tt.func @pointers(%d: !tt.tensordesc<16x!tt.ptr<f32>>, %i: i32) {
  tt.return
}

// -----

// expected-error @+1 {{expected a descriptor of a block of numbers with at least one dimension, got '!tt.tensordesc<f32>'}}
tt.func @no_dimension(%d: !tt.tensordesc<f32>) {
  %v = tt.descriptor_load %d[] : !tt.tensordesc<f32> -> tensor<f32>
  tt.return
}

// -----

tt.func @new(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  // expected-error @+1 {{expected 2 sizes and strides for a block of '!tt.tensordesc<2x16xf32>', got 1}}
  %d = tt.make_tensor_descriptor %p, [%n], [%s] : !tt.ptr<f32>, !tt.tensordesc<2x16xf32>
  // expected-error @+1 {{expected a pointer to 'i32', as the block has, got one to 'f32'}}
  %e = tt.make_tensor_descriptor %p, [%n], [%s] : !tt.ptr<f32>, !tt.tensordesc<16xsi32>
  tt.return
}

// -----

tt.func @reduction(%d: !tt.tensordesc<16xi32>, %i: i32, %v: tensor<16xi32>) {
  // expected-error @+1 {{'tt.descriptor_reduce' cannot be converted to linalg: no atomic is 'inc' of 'i32'}}
  tt.descriptor_reduce inc, %d[%i], %v : !tt.tensordesc<16xi32>, tensor<16xi32>
  tt.return
}

// -----

// expected-error @+1 {{a function without a body cannot take a descriptor}}
tt.func private @declared(!tt.tensordesc<16xf32>)
