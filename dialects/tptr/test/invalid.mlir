// RUN: triton-ext-opt %s --load-extension=tptr -split-input-file -verify-diagnostics

func.func @negative_type() {
  // expected-error @+1 {{expected the type of a number or of a pointer, got 'memref<4xf32>'}}
  %0 = tptr.type_offset memref<4xf32> : i32
  return
}

// -----

func.func @negative_spaces(%p: !ptr.ptr<#tptr.default_memory_space>, %i: i32) {
  // expected-error @+1 {{expected a result of the type of the base, got '!ptr.ptr<#ptr.generic_space>' for '!ptr.ptr<#tptr.default_memory_space>'}}
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

// -----

func.func @negative_elements(%m: memref<4xvector<4xf32>>) {
  // expected-error @+1 {{expected a memref of numbers or of pointers, got one of 'vector<4xf32>'}}
  %0 = tptr.from_memref %m : memref<4xvector<4xf32>> to <#tptr.default_memory_space>
  return
}

// -----

func.func @negative_container(%t: tensor<4xi64>) {
  // expected-error @+1 {{expected a result like the operand, got 'vector<4x!ptr.ptr<#ptr.generic_space>>' for 'tensor<4xi64>'}}
  %0 = tptr.int_to_ptr %t : tensor<4xi64> to vector<4x!ptr.ptr<#ptr.generic_space>>
  return
}

// -----

func.func @negative_shape(%t: tensor<4x!ptr.ptr<#ptr.generic_space>>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = tptr.ptr_to_int %t : tensor<4x!ptr.ptr<#ptr.generic_space>> to tensor<8xi64>
  return
}

// -----

func.func @negative_space(%p: !ptr.ptr<#ptr.generic_space>) {
  // expected-error @+1 {{expected one memory space, got 'memref<1xf32>' and '!ptr.ptr<#ptr.generic_space>'}}
  %0 = tptr.from_ptr %p : <#ptr.generic_space> -> memref<1xf32>
  return
}
