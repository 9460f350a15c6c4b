// RUN: triton-ext-opt %s --load-extension=aux -split-input-file | triton-ext-opt --load-extension=aux -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @view
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[N:.*]]: index)
func.func @view(%p: !llvm.ptr, %n: index) {
  // CHECK: aux.view %[[P]] to offset: [%[[N]]], sizes: [10, %[[N]]], strides: [%[[N]], 1] : !llvm.ptr to memref<10x?xf32, strided<[?, 1], offset: ?>>
  %0 = aux.view %p to offset: [%n], sizes: [10, %n], strides: [%n, 1]
      : !llvm.ptr to memref<10x?xf32, strided<[?, 1], offset: ?>>
  // The type may be dynamic where the operands are static.
  // CHECK: aux.view %[[P]] to offset: [1], sizes: [10, 10], strides: [1, 1] : !llvm.ptr to memref<10x?xf32, strided<[?, 1], offset: ?>>
  %1 = aux.view %p to offset: [1], sizes: [10, 10], strides: [1, 1]
      : !llvm.ptr to memref<10x?xf32, strided<[?, 1], offset: ?>>
  // CHECK: aux.view %[[P]] to offset: [0], sizes: [4], strides: [1] {cache_mode = "cmnormal"} : !llvm.ptr to memref<4xf32>
  %2 = aux.view %p to offset: [0], sizes: [4], strides: [1] {cache_mode = "cmnormal"}
      : !llvm.ptr to memref<4xf32>
  // CHECK: aux.view %[[P]] to offset: [3], sizes: [], strides: [] : !llvm.ptr to memref<i8, strided<[], offset: 3>>
  %3 = aux.view %p to offset: [3], sizes: [], strides: []
      : !llvm.ptr to memref<i8, strided<[], offset: 3>>
  return
}

// -----

// triton-linalg writes the layout as an affine map; the pointer is in another address space.
#map = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK-LABEL: func.func @view_affine
// CHECK: aux.view %{{.*}} to offset: [%{{.*}}], sizes: [%{{.*}}], strides: [1] : !llvm.ptr<1> to memref<?xf32, #{{.*}}>
func.func @view_affine(%p: !llvm.ptr<1>, %n: index) {
  %0 = aux.view %p to offset: [%n], sizes: [%n], strides: [1] : !llvm.ptr<1> to memref<?xf32, #map>
  return
}

// -----

// CHECK-LABEL: func.func @store
// CHECK: aux.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x4xf32>
// CHECK: aux.store %{{.*}}, %{{.*}}[] {cache_mode = "cmtransient"} : memref<f32>
func.func @store(%v: f32, %m: memref<?x4xf32>, %s: memref<f32>, %i: index) {
  aux.store %v, %m[%i, %i] : memref<?x4xf32>
  aux.store %v, %s[] {cache_mode = "cmtransient"} : memref<f32>
  return
}

// -----

// CHECK-LABEL: func.func @print
// CHECK: aux.print(%{{.*}} : memref<?xi8>)
// CHECK: aux.print(%{{.*}} : memref<?xi8>) {format = "%d"}
// CHECK: %{{.*}} = aux.print(%{{.*}} : tensor<4xi8>) -> (tensor<4xi8>)
// CHECK: %{{.*}} = aux.print(%{{.*}} : tensor<4xi8>) {format = "%d"} -> (tensor<4xi8>)
// CHECK: aux.print(%{{.*}} : memref<?xi8>) at [%{{.*}}] {whole = array<i64: 8>}
// CHECK: aux.scalar.print(%{{.*}} : f32)
// CHECK: aux.scalar.print(%{{.*}} : i32) {format = "%d"}
// CHECK: aux.scalar.print(%{{.*}} : !llvm.ptr)
// CHECK: aux.scalar.print {format = "here"}
func.func @print(%m: memref<?xi8>, %t: tensor<4xi8>, %f: f32, %i: i32, %p: !llvm.ptr) -> tensor<4xi8> {
  aux.print(%m : memref<?xi8>)
  aux.print(%m : memref<?xi8>) {format = "%d"}
  %0 = aux.print(%t : tensor<4xi8>) -> (tensor<4xi8>)
  %1 = aux.print(%0 : tensor<4xi8>) {format = "%d"} -> (tensor<4xi8>)
  %c4 = arith.constant 4 : index
  aux.print(%m : memref<?xi8>) at [%c4] {whole = array<i64: 8>}
  aux.scalar.print(%f : f32)
  aux.scalar.print(%i : i32) {format = "%d"}
  aux.scalar.print(%p : !llvm.ptr)
  aux.scalar.print {format = "here"}
  return %1 : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @barrier
// CHECK: aux.optimization_barrier %{{.*}} : tensor<2x2xf32>
// CHECK: aux.optimization_barrier %{{.*}} : memref<2x2xf32>
// CHECK: aux.optimization_barrier %{{.*}} : !llvm.ptr
func.func @barrier(%t: tensor<2x2xf32>, %m: memref<2x2xf32>, %p: !llvm.ptr) {
  aux.optimization_barrier %t : tensor<2x2xf32>
  aux.optimization_barrier %m : memref<2x2xf32>
  aux.optimization_barrier %p : !llvm.ptr
  return
}

// -----

// CHECK-LABEL: func.func @bitcast_ext
// CHECK: aux.bitcast_ext %{{.*}} : i32 to f32
// CHECK: aux.bitcast_ext %{{.*}} : !llvm.ptr to i64
// CHECK: aux.bitcast_ext %{{.*}} : tensor<?xi64> to tensor<?x!llvm.ptr>
// CHECK: aux.bitcast_ext %{{.*}} : tensor<2x4xi64> to tensor<2x16xf16>
// CHECK: aux.bitcast_ext %{{.*}} : tensor<?xi64> to tensor<?xi8>
func.func @bitcast_ext(%i: i32, %p: !llvm.ptr, %t: tensor<?xi64>, %u: tensor<2x4xi64>) -> (f32, i64, tensor<?x!llvm.ptr>) {
  %0 = aux.bitcast_ext %i : i32 to f32
  %1 = aux.bitcast_ext %p : !llvm.ptr to i64
  %2 = aux.bitcast_ext %t : tensor<?xi64> to tensor<?x!llvm.ptr>
  %3 = aux.bitcast_ext %u : tensor<2x4xi64> to tensor<2x16xf16>
  %4 = aux.bitcast_ext %t : tensor<?xi64> to tensor<?xi8>
  return %0, %1, %2 : f32, i64, tensor<?x!llvm.ptr>
}
