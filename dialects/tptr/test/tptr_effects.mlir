// RUN: triton-ext-opt %s --load-extension=tptr -cse -canonicalize | FileCheck %s

// Of two loads with nothing between them, one is enough.
// CHECK-LABEL: tt.func @loads
// CHECK: %[[V:.*]] = tptr.load
// CHECK-NEXT: tt.return %[[V]], %[[V]]
tt.func @loads(%p: !ptr.ptr<#ptr.generic_space>) -> (f32, f32) {
  %0 = tptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  %1 = tptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  tt.return %0, %1 : f32, f32
}

// A store may change what is loaded, by whatever dialect.
// CHECK-LABEL: tt.func @stores
// CHECK-COUNT-2: tptr.load
// CHECK-COUNT-2: tt.load
// CHECK-COUNT-2: memref.load
tt.func @stores(%p: !ptr.ptr<#ptr.generic_space>, %x: !tt.ptr<f32>, %m: memref<f32>, %v: f32) -> (f32, f32, f32, f32, f32, f32) {
  %0 = tptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  tt.store %x, %v : !tt.ptr<f32>
  %1 = tptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  %2 = tt.load %x : !tt.ptr<f32>
  tptr.store %v, %p : f32, !ptr.ptr<#ptr.generic_space>
  %3 = tt.load %x : !tt.ptr<f32>
  %4 = memref.load %m[] : memref<f32>
  tptr.store %v, %p : f32, !ptr.ptr<#ptr.generic_space>
  %5 = memref.load %m[] : memref<f32>
  tt.return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// A load without a use is not needed, arithmetic neither.
// CHECK-LABEL: tt.func @unused
// CHECK-NEXT: tt.return
tt.func @unused(%p: !ptr.ptr<#ptr.generic_space>, %i: i32) {
  %0 = tptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  %1 = tptr.ptradd %p %i : <#ptr.generic_space>, i32 to <#ptr.generic_space>
  %2 = tptr.to_memref %1 : <#ptr.generic_space> to memref<1xf32>
  tt.return
}
