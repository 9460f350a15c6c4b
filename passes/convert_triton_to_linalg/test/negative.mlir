// RUN: triton-linalg-opt %s -convert-triton-to-linalg -split-input-file -verify-diagnostics

tt.func @negative_asm(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.elementwise_inline_asm' cannot be converted to linalg: the assembly is that of one kind of processor}}
  %0 = tt.elementwise_inline_asm "shl.b32 $0, $0, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @negative_extern(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.extern_elementwise' cannot be converted to linalg: the function is one of a GPU's device library}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @negative_volatile(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{'tt.load' cannot be converted to linalg: no structured load is volatile}}
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.return
}

// -----

// expected-error @+1 {{'tt.func' cannot be converted to linalg: it has an argument that is no pointer, number or tensor (tensor descriptors: run -triton-rewrite-tensor-descriptor-to-pointer first)}}
tt.func @negative_descriptor(%d: !tt.tensordesc<8x8xf32>, %i: i32) {
  // expected-error @+1 {{'tt.descriptor_load' cannot be converted to linalg: tensor descriptors have to be pointers (run -triton-rewrite-tensor-descriptor-to-pointer first)}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

// Each one, not only the first.
tt.func @negative_atomics(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %v: f32, %i: i32) {
  // expected-error @+1 {{'tt.atomic_rmw' cannot be converted to linalg: atomics are not implemented}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  // expected-error @+1 {{'tt.atomic_cas' cannot be converted to linalg: atomics are not implemented}}
  %1 = tt.atomic_cas acq_rel, gpu, %q, %i, %i : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// -----

tt.func @negative_map(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.map_elementwise' cannot be converted to linalg: it maps several elements at a time}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a, %b : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}
