// RUN: triton-ext-opt %s --load-extension=tptr -cse -canonicalize | FileCheck %s

// Of two loads with nothing between them, one is enough.
// CHECK-LABEL: tt.func @loads
// CHECK: %[[V:.*]] = ptr.load
// CHECK-NEXT: tt.return %[[V]], %[[V]]
tt.func @loads(%p: !ptr.ptr<#ptr.generic_space>) -> (f32, f32) {
  %0 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  %1 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  tt.return %0, %1 : f32, f32
}

// A store may change what is loaded, by whatever dialect.
// CHECK-LABEL: tt.func @stores
// CHECK-COUNT-2: ptr.load
// CHECK-COUNT-2: tt.load
// CHECK-COUNT-2: memref.load
tt.func @stores(%p: !ptr.ptr<#ptr.generic_space>, %x: !tt.ptr<f32>, %m: memref<f32>, %v: f32) -> (f32, f32, f32, f32, f32, f32) {
  %0 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  tt.store %x, %v : !tt.ptr<f32>
  %1 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  %2 = tt.load %x : !tt.ptr<f32>
  ptr.store %v, %p : f32, !ptr.ptr<#ptr.generic_space>
  %3 = tt.load %x : !tt.ptr<f32>
  %4 = memref.load %m[] : memref<f32>
  ptr.store %v, %p : f32, !ptr.ptr<#ptr.generic_space>
  %5 = memref.load %m[] : memref<f32>
  tt.return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// A load without a use is not needed, arithmetic neither.
// CHECK-LABEL: tt.func @unused
// CHECK-NEXT: tt.return
tt.func @unused(%p: !ptr.ptr<#ptr.generic_space>, %i: i32) {
  %0 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  %1 = tptr.ptradd %p %i : <#ptr.generic_space>, i32 to <#ptr.generic_space>
  %2 = tptr.to_memref %1 : <#ptr.generic_space> to memref<1xf32>
  tt.return
}

// A volatile load stays, and so does one that orders others, around which no other load may move.
// CHECK-LABEL: tt.func @ordered
// CHECK: ptr.load volatile
// CHECK: ptr.load
// CHECK: ptr.load %{{.*}} atomic acquire
// CHECK: ptr.load
// CHECK: ptr.store volatile
tt.func @ordered(%p: !ptr.ptr<#ptr.generic_space>, %v: i32) -> (f32, f32) {
  %0 = ptr.load volatile %p : !ptr.ptr<#ptr.generic_space> -> f32
  %1 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  %2 = ptr.load %p atomic acquire alignment = 4 : !ptr.ptr<#ptr.generic_space> -> i32
  %3 = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
  ptr.store volatile %v, %p : i32, !ptr.ptr<#ptr.generic_space>
  tt.return %1, %3 : f32, f32
}

// An unordered one without a use goes.
// CHECK-LABEL: tt.func @unordered
// CHECK-NEXT: tt.return
tt.func @unordered(%p: !ptr.ptr<#ptr.generic_space>) {
  %0 = ptr.load %p atomic unordered alignment = 4 : !ptr.ptr<#ptr.generic_space> -> i32
  tt.return
}
