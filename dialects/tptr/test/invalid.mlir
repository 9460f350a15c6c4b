// RUN: triton-ext-opt %s --load-extension=tptr -split-input-file -verify-diagnostics

func.func @negative_type() {
  // expected-error @+1 {{expected the type of a number or of a pointer, got 'memref<4xf32>'}}
  %0 = tptr.type_offset memref<4xf32> : i32
  return
}

// -----

func.func @negative_spaces(%p: !ptr.ptr<#tptr.default_memory_space>, %i: i32) {
  // expected-error @+1 {{failed to verify that all of {base, result} have same type}}
  %0 = tptr.ptradd %p %i : <#tptr.default_memory_space>, i32 to <#ptr.generic_space>
  return
}

// -----

func.func @negative_strides(%p: !ptr.ptr<#tptr.default_memory_space>) {
  // expected-error @+1 {{expected a memref of known strides and a known offset of 0 or more, got 'memref<4xf32, strided<[?]>>'}}
  %0 = tptr.to_memref %p : <#tptr.default_memory_space> to memref<4xf32, strided<[?]>>
  return
}

// -----

func.func @negative_offset(%p: !ptr.ptr<#tptr.default_memory_space>) {
  // expected-error @+1 {{expected a memref of known strides and a known offset of 0 or more, got 'memref<4xf32, strided<[1], offset: ?>>'}}
  %0 = tptr.to_memref %p : <#tptr.default_memory_space> to memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @negative_size(%p: !ptr.ptr<#tptr.default_memory_space>) {
  // expected-error @+1 {{result #0 must be statically shaped memref}}
  %0 = tptr.to_memref %p : <#tptr.default_memory_space> to memref<?xf32>
  return
}

// -----

func.func @negative_load(%p: !ptr.ptr<#tptr.default_memory_space>) {
  // expected-error @+1 {{expected a value that is a number or a pointer, got 'tensor<4xf32>'}}
  %0 = tptr.load %p : !ptr.ptr<#tptr.default_memory_space> -> tensor<4xf32>
  return
}

// -----

func.func @negative_store(%p: !ptr.ptr<#tptr.default_memory_space>, %v: complex<f32>) {
  // expected-error @+1 {{expected a value that is a number or a pointer, got 'complex<f32>'}}
  tptr.store %v, %p : complex<f32>, !ptr.ptr<#tptr.default_memory_space>
  return
}

// -----

func.func @negative_pointer(%a: f32) {
  // expected-error @+1 {{operand #0 must be signless integer or index}}
  %0 = tptr.inttoptr %a : f32 to <#tptr.default_memory_space>
  return
}

// -----

func.func @negative_offset_below_0(%p: !ptr.ptr<#tptr.default_memory_space>) {
  // expected-error @+1 {{expected a memref of known strides and a known offset of 0 or more, got 'memref<4xf32, strided<[1], offset: -2>>'}}
  %0 = tptr.to_memref %p : <#tptr.default_memory_space> to memref<4xf32, strided<[1], offset: -2>>
  return
}
