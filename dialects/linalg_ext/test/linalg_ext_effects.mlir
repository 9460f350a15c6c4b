// RUN: triton-ext-opt %s --load-extension=linalg_ext -cse -split-input-file | FileCheck %s

// A write by linalg_ext stays between two loads of MLIR's own: both sides use the same resource, although they are
// compiled into two libraries. CSE merges the third load with the second, which shows that it looks at them.

// CHECK-LABEL: func.func @scatter
// CHECK: %[[A:.*]] = memref.load
// CHECK: linalg_ext.scatter
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @scatter(%m: memref<8xi32>, %i: index, %w: tensor<8x1xi32>, %k: tensor<8x1xi32>) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(true)
      ins(%w, %k : tensor<8x1xi32>, tensor<8x1xi32>) outs(%m : memref<8xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  }
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}

// -----

// CHECK-LABEL: func.func @flip
// CHECK: %[[A:.*]] = memref.load
// CHECK: linalg_ext.flip
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @flip(%m: memref<8xi32>, %i: index, %t: memref<8xi32>) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  linalg_ext.flip dimension = 0 ins(%t : memref<8xi32>) outs(%m : memref<8xi32>)
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}

// -----

// CHECK-LABEL: func.func @atomic_rmw
// CHECK: %[[A:.*]] = memref.load
// CHECK: linalg_ext.atomic_rmw
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @atomic_rmw(%m: memref<8xi32>, %i: index, %t: tensor<8xi32>) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  %r = linalg_ext.atomic_rmw addi acq_rel ins(%t : tensor<8xi32>) outs(%m, %t : memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}

// -----

// CHECK-LABEL: func.func @scalar_assert
// CHECK: %[[A:.*]] = memref.load
// CHECK: linalg_ext.scalar_assert
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: memref.load
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @scalar_assert(%m: memref<8xi32>, %i: index, %p: i1) -> (i32, i32, i32) {
  %a = memref.load %m[%i] : memref<8xi32>
  linalg_ext.scalar_assert "unknown" %p
  %b = memref.load %m[%i] : memref<8xi32>
  %c = memref.load %m[%i] : memref<8xi32>
  return %a, %b, %c : i32, i32, i32
}
