// RUN: triton-ext-opt %s --load-extension=tptr | triton-ext-opt --load-extension=tptr | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=tptr -mlir-print-op-generic | triton-ext-opt --load-extension=tptr | FileCheck %s

// As triton-shared prints them.
// CHECK-LABEL: func.func @forms
func.func @forms(%a: i64, %i: i32, %n: index, %u: memref<*xf32>, %v: f32) -> (i64, i16) {
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
  // CHECK: tptr.load %{{.*}} : !ptr.ptr<#tptr.default_memory_space> -> f32
  %l = tptr.load %r : !ptr.ptr<#tptr.default_memory_space> -> f32
  // CHECK: tptr.store %{{.*}}, %{{.*}} : f32, !ptr.ptr<#tptr.default_memory_space>
  tptr.store %v, %h : f32, !ptr.ptr<#tptr.default_memory_space>
  return %b, %c : i64, i16
}
