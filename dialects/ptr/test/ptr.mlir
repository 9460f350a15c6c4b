// RUN: triton-ext-opt %s --load-extension=tptr | triton-ext-opt --load-extension=tptr | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=tptr -mlir-print-op-generic | triton-ext-opt --load-extension=tptr | FileCheck %s

// CHECK-LABEL: func.func private @spaces(!ptr.ptr<#ptr.generic_space>, !ptr.ptr<#tptr.default_memory_space>, !ptr.ptr<3 : i64>)
func.func private @spaces(!ptr.ptr<#ptr.generic_space>, !ptr.ptr<#tptr.default_memory_space>, !ptr.ptr<3 : i64>)
// CHECK-LABEL: func.func private @elements(tensor<4x!ptr.ptr<#ptr.generic_space>>, memref<4x!ptr.ptr<#ptr.generic_space>>)
func.func private @elements(tensor<4x!ptr.ptr<#ptr.generic_space>>, memref<4x!ptr.ptr<#ptr.generic_space>>)
