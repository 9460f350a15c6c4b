// RUN: triton-ext-opt %s --load-extension=aux -cse -split-input-file | FileCheck %s

// A write by aux stays between two loads of MLIR's own: both sides use the same resource, although they are compiled
// into two libraries. CSE merges the third load with the second, which shows that it looks at them.

// CHECK-LABEL: func.func @store
// CHECK: %[[A:.*]] = memref.load
// CHECK: aux.store
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @store(%m: memref<8xi32>, %i: index, %v: i32) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  aux.store %v, %m[%i] : memref<8xi32>
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}

// -----

// CHECK-LABEL: func.func @print
// CHECK: %[[A:.*]] = memref.load
// CHECK: aux.print
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @print(%m: memref<8xi32>, %i: index) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  aux.print(%m : memref<8xi32>) {format = "%d"}
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}

// -----

// CHECK-LABEL: func.func @scalar_print
// CHECK: %[[A:.*]] = memref.load
// CHECK: aux.scalar.print
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @scalar_print(%m: memref<8xi32>, %i: index, %v: i32) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  aux.scalar.print(%v : i32) {format = "%d"}
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}

// -----

// CHECK-LABEL: func.func @optimization_barrier
// CHECK: %[[A:.*]] = memref.load
// CHECK: aux.optimization_barrier
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @optimization_barrier(%m: memref<8xi32>, %i: index, %v: i32) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  aux.optimization_barrier %v : i32
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}
