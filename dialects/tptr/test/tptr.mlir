// RUN: triton-ext-opt %s --load-extension=tptr | triton-ext-opt --load-extension=tptr | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=tptr -mlir-print-op-generic | triton-ext-opt --load-extension=tptr | FileCheck %s

// As triton-shared prints them, and as its versions print the types of pointers.
// CHECK-LABEL: func.func @forms
func.func @forms(%a: i64, %t: tensor<4xi64>, %v: vector<2xi64>) -> (i64, i16, tensor<4xindex>) {
  // CHECK: %[[P:.*]] = tptr.int_to_ptr %{{.*}} : i64 to !ptr.ptr<#ptr.generic_space>
  %p = tptr.int_to_ptr %a : i64 to !ptr.ptr<#ptr.generic_space>
  // CHECK: tptr.int_to_ptr %{{.*}} : i64 to !ptr.ptr<#tptr.default_memory_space>
  %q = tptr.int_to_ptr %a : i64 to <#tptr.default_memory_space>
  // CHECK: tptr.int_to_ptr %{{.*}} : tensor<4xi64> to tensor<4x!ptr.ptr<#ptr.generic_space>>
  %ps = tptr.int_to_ptr %t : tensor<4xi64> to tensor<4x!ptr.ptr<#ptr.generic_space>>
  // CHECK: tptr.int_to_ptr %{{.*}} : vector<2xi64> to vector<2x!ptr.ptr<#ptr.generic_space>>
  %pv = tptr.int_to_ptr %v : vector<2xi64> to vector<2x!ptr.ptr<#ptr.generic_space>>
  // CHECK: tptr.ptr_to_int %[[P]] : !ptr.ptr<#ptr.generic_space> to i64
  %b = tptr.ptr_to_int %p : !ptr.ptr<#ptr.generic_space> to i64
  // CHECK: tptr.ptr_to_int %{{.*}} : !ptr.ptr<#tptr.default_memory_space> to i16
  %c = tptr.ptr_to_int %q : <#tptr.default_memory_space> to i16
  // CHECK: tptr.ptr_to_int %{{.*}} : tensor<4x!ptr.ptr<#ptr.generic_space>> to tensor<4xindex>
  %d = tptr.ptr_to_int %ps : tensor<4x!ptr.ptr<#ptr.generic_space>> to tensor<4xindex>
  // CHECK: tptr.from_ptr %[[P]] : <#ptr.generic_space> -> memref<1xi32, #ptr.generic_space>
  %m = tptr.from_ptr %p : <#ptr.generic_space> -> memref<1xi32, #ptr.generic_space>
  // CHECK: tptr.from_ptr %{{.*}} metadata %{{.*}} : <#ptr.generic_space> -> memref<1xi32, #ptr.generic_space>
  %e = ptr.get_metadata %m : memref<1xi32, #ptr.generic_space>
  %n = tptr.from_ptr %p metadata %e : <#ptr.generic_space> -> memref<1xi32, #ptr.generic_space>
  return %b, %c, %d : i64, i16, tensor<4xindex>
}

// Older versions.
// CHECK-LABEL: func.func @older
func.func @older(%a: i64, %i: i32, %n: index, %u: memref<*xf32>) -> (i64, i16) {
  // CHECK: %[[P:.*]] = tptr.inttoptr %{{.*}} : i64 to <#tptr.default_memory_space>
  %p = tptr.inttoptr %a : i64 to <#tptr.default_memory_space>
  // CHECK: tptr.inttoptr %{{.*}} : index to <#ptr.generic_space>
  %g = tptr.inttoptr %n : index to <#ptr.generic_space>
  // CHECK: tptr.ptrtoint %[[P]] : <#tptr.default_memory_space> to i64
  %b = tptr.ptrtoint %p : <#tptr.default_memory_space> to i64
  %c = tptr.ptrtoint %p : <#tptr.default_memory_space> to i16
  // CHECK: tptr.type_offset f32 : i32
  %s = tptr.type_offset f32  : i32
  // CHECK: tptr.type_offset {mine} !tt.ptr<f32>
  %t = tptr.type_offset {mine} !tt.ptr<f32>
  // CHECK: tptr.ptradd %[[P]] %{{.*}} : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
  %q = tptr.ptradd %p %s : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
  %r = tptr.ptradd %q %t : <#tptr.default_memory_space>, index to <#tptr.default_memory_space>
  // CHECK: tptr.from_memref %{{.*}} : memref<1xf32> to <#tptr.default_memory_space>
  %cast = memref.cast %u : memref<*xf32> to memref<1xf32>
  %f = tptr.from_memref %cast : memref<1xf32> to <#tptr.default_memory_space>
  // CHECK: tptr.from_memref %{{.*}} : memref<*xf32> to <#tptr.default_memory_space>
  %h = tptr.from_memref %u : memref<*xf32> to <#tptr.default_memory_space>
  // CHECK: tptr.to_memref %{{.*}} : <#tptr.default_memory_space> to memref<1xf32>
  %m = tptr.to_memref %f : <#tptr.default_memory_space> to memref<1xf32>
  return %b, %c : i64, i16
}
