// RUN: triton-ext-opt %s --load-extension=ptr -split-input-file -verify-diagnostics

// expected-error @+1 {{expected '<'}}
func.func private @negative_no_space(!ptr.ptr)

// -----

// expected-error @+2 {{expected attribute value}}
// expected-error @+1 {{failed to parse Ptr_PtrType parameter 'memorySpace' which is to be a `::mlir::Attribute`}}
func.func private @negative_empty(!ptr.ptr<>)
