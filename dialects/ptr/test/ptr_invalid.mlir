// RUN: triton-ext-opt %s --load-extension=ptr -split-input-file -verify-diagnostics

// expected-error @+1 {{expected '<'}}
func.func private @negative_no_space(!ptr.ptr)

// -----

// expected-error @+2 {{expected attribute value}}
// expected-error @+1 {{failed to parse Ptr_PtrType parameter 'memorySpace' which is to be a `::mlir::Attribute`}}
func.func private @negative_empty(!ptr.ptr<>)

// -----

// expected-error @+1 {{expected a type that has more than a pointer, got '!ptr.ptr<#ptr.generic_space>'}}
func.func private @negative_metadata(!ptr.ptr_metadata<!ptr.ptr<#ptr.generic_space>>)

// -----

func.func @negative_type() {
  // expected-error @+1 {{expected the type of a number or of a pointer, got 'memref<4xf32>'}}
  %0 = ptr.type_offset memref<4xf32> : i32
  return
}

// -----

func.func @negative_shapes(%p: tensor<8x!ptr.ptr<#ptr.generic_space>>, %i: tensor<4xi64>) {
  // expected-error @+1 {{expected operands of one shape, got 'tensor<8x!ptr.ptr<#ptr.generic_space>>' and 'tensor<4xi64>'}}
  %0 = ptr.ptr_add %p, %i : tensor<8x!ptr.ptr<#ptr.generic_space>>, tensor<4xi64>
  return
}

// -----

func.func @negative_containers(%p: tensor<8x!ptr.ptr<#ptr.generic_space>>, %i: vector<8xi64>) {
  // expected-error @+1 {{expected operands of one shape, got 'tensor<8x!ptr.ptr<#ptr.generic_space>>' and 'vector<8xi64>'}}
  %0 = ptr.ptr_add %p, %i : tensor<8x!ptr.ptr<#ptr.generic_space>>, vector<8xi64>
  return
}

// -----

func.func @negative_difference(%p: tensor<8x!ptr.ptr<#ptr.generic_space>>) {
  // expected-error @+1 {{expected a result like the operands, got 'vector<8xi64>' for 'tensor<8x!ptr.ptr<#ptr.generic_space>>'}}
  %0 = ptr.ptr_diff %p, %p : tensor<8x!ptr.ptr<#ptr.generic_space>> -> vector<8xi64>
  return
}

// -----

func.func @negative_space(%m: memref<f32>) {
  // expected-error @+1 {{expected one memory space, got 'memref<f32>' and '!ptr.ptr<#ptr.generic_space>'}}
  %0 = ptr.to_ptr %m : memref<f32> -> !ptr.ptr<#ptr.generic_space>
  return
}

// -----

func.func @negative_from_space(%p: !ptr.ptr<#ptr.generic_space>) {
  // expected-error @+1 {{expected one memory space, got 'memref<f32, 3>' and '!ptr.ptr<#ptr.generic_space>'}}
  %0 = ptr.from_ptr %p : !ptr.ptr<#ptr.generic_space> -> memref<f32, 3>
  return
}

// -----

func.func @negative_pointer(%p: !ptr.ptr<#ptr.generic_space>) {
  // expected-error @+1 {{expected a memref, got '!ptr.ptr<#ptr.generic_space>'}}
  %0 = ptr.to_ptr %p : !ptr.ptr<#ptr.generic_space> -> !ptr.ptr<#ptr.generic_space>
  return
}

// -----

func.func @negative_load(%p: !ptr.ptr<#ptr.generic_space>) {
  // expected-error @+1 {{expected a value that is a number or a pointer, got 'tensor<4xf32>'}}
  %0 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> tensor<4xf32>
  return
}

// -----

func.func @negative_store(%p: !ptr.ptr<#ptr.generic_space>, %v: complex<f32>) {
  // expected-error @+1 {{expected a value that is a number or a pointer, got 'complex<f32>'}}
  ptr.store %v, %p : complex<f32>, !ptr.ptr<#ptr.generic_space>
  return
}

// -----

func.func @negative_alignment(%p: !ptr.ptr<#ptr.generic_space>) {
  // expected-error @+1 {{expected a power of 2 as alignment, got 3}}
  %0 = ptr.load %p alignment = 3 : !ptr.ptr<#ptr.generic_space> -> i64
  return
}

// -----

func.func @negative_load_release(%p: !ptr.ptr<#ptr.generic_space>) {
  // expected-error @+1 {{expected another ordering than 'release'}}
  %0 = ptr.load %p atomic release alignment = 8 : !ptr.ptr<#ptr.generic_space> -> i64
  return
}

// -----

func.func @negative_store_acq_rel(%p: !ptr.ptr<#ptr.generic_space>, %v: i64) {
  // expected-error @+1 {{expected another ordering than 'acq_rel'}}
  ptr.store %v, %p atomic acq_rel alignment = 8 : i64, !ptr.ptr<#ptr.generic_space>
  return
}

// -----

func.func @negative_no_alignment(%p: !ptr.ptr<#ptr.generic_space>, %v: i64) {
  // expected-error @+1 {{expected an alignment, because the access is atomic}}
  ptr.store %v, %p atomic release : i64, !ptr.ptr<#ptr.generic_space>
  return
}

// -----

func.func @negative_scope(%p: !ptr.ptr<#ptr.generic_space>) {
  // expected-error @+1 {{expected no syncscope, because the access is not atomic}}
  %0 = "ptr.load"(%p) <{syncscope = "agent"}> : (!ptr.ptr<#ptr.generic_space>) -> i64
  return
}
