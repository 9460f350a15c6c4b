// RUN: triton-ext-opt %s --load-extension=tptr | triton-ext-opt --load-extension=tptr | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=tptr -mlir-print-op-generic | triton-ext-opt --load-extension=tptr | FileCheck %s

!p = !ptr.ptr<#ptr.generic_space>
!m = memref<?xf32, #ptr.generic_space>

// As MLIR prints them.
// CHECK-LABEL: func.func @addresses
func.func @addresses(%p: !p, %i: i32, %ps: tensor<4x!p>, %is: tensor<4xi64>, %v: vector<4x!p>) -> (i64, tensor<4xindex>) {
  // CHECK: ptr.constant #ptr.null : !ptr.ptr<#ptr.generic_space>
  %null = ptr.constant #ptr.null : !p
  // CHECK: ptr.constant #ptr.address<4096> : !ptr.ptr<#ptr.generic_space>
  %known = ptr.constant #ptr.address<0x1000> : !p
  // CHECK: ptr.type_offset f32 : index
  %s = ptr.type_offset f32 : index
  // CHECK: ptr.ptr_add %{{.*}}, %{{.*}} : !ptr.ptr<#ptr.generic_space>, i32
  %a = ptr.ptr_add %p, %i : !p, i32
  // CHECK: ptr.ptr_add %{{.*}}, %{{.*}} : !ptr.ptr<#ptr.generic_space>, index
  %b = ptr.ptr_add none %a, %s : !p, index
  // CHECK: ptr.ptr_add nusw %{{.*}}, %{{.*}} : !ptr.ptr<#ptr.generic_space>, i32
  %c = ptr.ptr_add nusw %b, %i : !p, i32
  // CHECK: ptr.ptr_add nuw
  %d = ptr.ptr_add nuw %c, %i : !p, i32
  // CHECK: ptr.ptr_add inbounds
  %e = ptr.ptr_add inbounds %d, %i : !p, i32
  // CHECK: %[[F:.*]] = ptr.ptr_add %{{.*}}, %{{.*}} : !ptr.ptr<#ptr.generic_space>, tensor<4xi64>
  %f = ptr.ptr_add %e, %is : !p, tensor<4xi64>
  // CHECK: ptr.ptr_add %{{.*}}, %{{.*}} : tensor<4x!ptr.ptr<#ptr.generic_space>>, i32
  %g = ptr.ptr_add %f, %i : tensor<4x!p>, i32
  // CHECK: ptr.ptr_add %{{.*}}, %{{.*}} : vector<4x!ptr.ptr<#ptr.generic_space>>, i32
  %h = ptr.ptr_add %v, %i : vector<4x!p>, i32
  // CHECK: ptr.ptr_diff %{{.*}}, %{{.*}} : !ptr.ptr<#ptr.generic_space> -> i64
  %j = ptr.ptr_diff %e, %null : !p -> i64
  // CHECK: ptr.ptr_diff nuw %{{.*}}, %{{.*}} : !ptr.ptr<#ptr.generic_space> -> i32
  %k = ptr.ptr_diff nuw %e, %known : !p -> i32
  // CHECK: ptr.ptr_diff nsw %{{.*}}, %[[F]] : tensor<4x!ptr.ptr<#ptr.generic_space>> -> tensor<4xindex>
  %l = ptr.ptr_diff nsw %g, %f : tensor<4x!p> -> tensor<4xindex>
  return %j, %l : i64, tensor<4xindex>
}

// CHECK-LABEL: func.func @memrefs
// CHECK-SAME: !ptr.ptr_metadata<memref<?xf32, #ptr.generic_space>>
func.func @memrefs(%m: !m, %d: !ptr.ptr_metadata<!m>) -> !m {
  // CHECK: ptr.to_ptr %{{.*}} : memref<?xf32, #ptr.generic_space> -> <#ptr.generic_space>
  %p = ptr.to_ptr %m : !m -> !p
  // CHECK: ptr.get_metadata %{{.*}} : memref<?xf32, #ptr.generic_space>
  %e = ptr.get_metadata %m : !m
  // CHECK: ptr.from_ptr %{{.*}} metadata %{{.*}} : <#ptr.generic_space> -> memref<?xf32, #ptr.generic_space>
  %n = ptr.from_ptr %p metadata %d : !p -> !m
  // CHECK: ptr.from_ptr %{{.*}} : <#ptr.generic_space> -> memref<f32, #ptr.generic_space>
  %o = ptr.from_ptr %p : !p -> memref<f32, #ptr.generic_space>
  return %n : !m
}

// CHECK-LABEL: func.func @accesses
func.func @accesses(%p: !p, %q: !ptr.ptr<#llvm.address_space<1>>) {
  // CHECK: ptr.load %{{.*}} : !ptr.ptr<#ptr.generic_space> -> f32
  %a = ptr.load %p : !p -> f32
  // CHECK: ptr.load volatile %{{.*}} : !ptr.ptr<#ptr.generic_space> -> f32
  %b = ptr.load volatile %p : !p -> f32
  // CHECK: ptr.load %{{.*}} nontemporal : !ptr.ptr<#ptr.generic_space> -> f32
  %c = ptr.load %p nontemporal : !p -> f32
  // CHECK: ptr.load %{{.*}} invariant : !ptr.ptr<#ptr.generic_space> -> f32
  %d = ptr.load %p invariant : !p -> f32
  // CHECK: ptr.load %{{.*}} invariant_group : !ptr.ptr<#ptr.generic_space> -> f32
  %e = ptr.load %p invariant_group : !p -> f32
  // CHECK: ptr.load %{{.*}} atomic monotonic alignment = 8 : !ptr.ptr<#ptr.generic_space> -> i64
  %f = ptr.load %p atomic monotonic alignment = 8 : !p -> i64
  // CHECK: ptr.load volatile %{{.*}} atomic syncscope("workgroup") acquire nontemporal alignment = 4 : !ptr.ptr<#llvm.address_space<1>> -> i32
  %g = ptr.load volatile %q atomic syncscope("workgroup") acquire nontemporal alignment = 4
      : !ptr.ptr<#llvm.address_space<1>> -> i32
  // CHECK: ptr.store %{{.*}}, %{{.*}} : f32, !ptr.ptr<#ptr.generic_space>
  ptr.store %a, %p : f32, !p
  // CHECK: ptr.store volatile %{{.*}}, %{{.*}} nontemporal invariant_group : f32, !ptr.ptr<#ptr.generic_space>
  ptr.store volatile %a, %p invariant_group nontemporal : f32, !p
  // CHECK: ptr.store %{{.*}}, %{{.*}} atomic syncscope("agent") release alignment = 8 : i64, !ptr.ptr<#ptr.generic_space>
  ptr.store %f, %p atomic syncscope("agent") release alignment = 8 : i64, !p
  return
}
