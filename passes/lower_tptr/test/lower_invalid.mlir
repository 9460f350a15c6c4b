// RUN: triton-ext-opt %s -triton-ext-lower-tptr -split-input-file -verify-diagnostics

!p = !ptr.ptr<#ptr.generic_space>

func.func @negative_no_metadata(%p: !p) -> memref<?xf32, #ptr.generic_space> {
  // expected-error @+1 {{has no lowering without metadata: 'memref<?xf32, #ptr.generic_space>' does not say all sizes, strides and offset}}
  %0 = ptr.from_ptr %p : !p -> memref<?xf32, #ptr.generic_space>
  return %0 : memref<?xf32, #ptr.generic_space>
}

// -----

!p = !ptr.ptr<#ptr.generic_space>

func.func @negative_unranked(%p: !p) -> memref<*xf32, #ptr.generic_space> {
  // expected-error @+1 {{has no lowering: expected a memref with strides}}
  %0 = tptr.from_ptr %p : <#ptr.generic_space> -> memref<*xf32, #ptr.generic_space>
  return %0 : memref<*xf32, #ptr.generic_space>
}

// -----

!p = !ptr.ptr<#ptr.generic_space>

func.func @negative_dynamic(%p: !p, %i: tensor<?xi32>) -> tensor<?x!p> {
  // expected-error @+1 {{has no lowering: 'tensor<?x!ptr.ptr<#ptr.generic_space>>' does not say how many elements there are}}
  %0 = ptr.ptr_add %p, %i : !p, tensor<?xi32>
  return %0 : tensor<?x!p>
}
