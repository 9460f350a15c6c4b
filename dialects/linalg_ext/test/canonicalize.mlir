// RUN: triton-ext-opt %s --load-extension=linalg_ext -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constant_margins
// CHECK: linalg_ext.pad {{.*}} low = [1, %{{.*}}] high = [3, 0] attributes {mine} {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[A]]
// CHECK-NEXT: linalg_ext.yield %[[N]]
func.func @constant_margins(%t: tensor<4x?xf32>, %o: tensor<8x?xf32>, %z: f32, %n: index) -> tensor<8x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = linalg_ext.pad ins(%t : tensor<4x?xf32>) outs(%o : tensor<8x?xf32>) pvalue(%z : f32)
      low = [%c1, %n] high = [3, %c0] attributes {mine} {
  ^bb0(%a: f32):
    %1 = arith.negf %a : f32
    linalg_ext.yield %1 : f32
  } -> tensor<8x?xf32>
  return %0 : tensor<8x?xf32>
}

// -----

// CHECK-LABEL: func.func @no_margins
// CHECK-SAME: (%[[T:[^:]*]]: tensor<4xf32>
// CHECK-NEXT: return %[[T]]
func.func @no_margins(%t: tensor<4xf32>, %o: tensor<4xf32>, %z: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<4xf32>) pvalue(%z : f32) low = [%c0] high = [0] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A body that does something stays, and margins that would not verify stay values.
// CHECK-LABEL: func.func @stays
// CHECK: linalg_ext.pad {{.*}} low = [0] high = [0]
// CHECK: linalg_ext.pad {{.*}} low = [0] high = [%{{.*}}]
// CHECK: linalg_ext.pad {{.*}} low = [%{{.*}}] high = [0]
func.func @stays(%t: tensor<4xf32>, %o: tensor<4xf32>, %z: f32) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<4xf32>) pvalue(%z : f32) low = [0] high = [0] {
  ^bb0(%a: f32):
    %1 = arith.negf %a : f32
    linalg_ext.yield %1 : f32
  } -> tensor<4xf32>
  %c5 = arith.constant 5 : index
  %cm1 = arith.constant -1 : index
  %2 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<4xf32>) pvalue(%z : f32) low = [0] high = [%c5] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  %3 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<4xf32>) pvalue(%z : f32) low = [%cm1] high = [0] {
  ^bb0(%a: f32):
    linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  return %0, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// On tensors nothing has an effect: unused ones go, two alike are one.
// CHECK-LABEL: func.func @tensors
// CHECK-NEXT: %[[R:.*]] = linalg_ext.make_range
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @tensors(%a: i32, %t: tensor<8xi32>, %i: tensor<8x1xi32>, %w: tensor<8x1xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %0 = linalg_ext.make_range ins(%a, %a : i32, i32) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %1 = linalg_ext.make_range ins(%a, %a : i32, i32) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %2 = linalg_ext.flip dimension = 0 ins(%t : tensor<8xi32>) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %3 = linalg_ext.histogram ins(%t : tensor<8xi32>) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %4 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true)
      ins(%t, %i : tensor<8xi32>, tensor<8x1xi32>) outs(%w : tensor<8x1xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  } -> tensor<8x1xi32>
  return %0, %1 : tensor<8xi32>, tensor<8xi32>
}

// -----

// What writes memory stays, and what reads it is not moved across a write.
// CHECK-LABEL: func.func @memrefs
// CHECK-COUNT-2: linalg_ext.make_range
// CHECK: %[[A:.*]] = linalg_ext.gather
// CHECK: linalg_ext.scatter
// CHECK: %[[B:.*]] = linalg_ext.gather
// CHECK: return %[[A]], %[[B]]
func.func @memrefs(%a: i32, %m: memref<8xi32>, %i: tensor<8x1xi32>, %w: tensor<8x1xi32>) -> (tensor<8x1xi32>, tensor<8x1xi32>) {
  linalg_ext.make_range ins(%a, %a : i32, i32) outs(%m : memref<8xi32>)
  linalg_ext.make_range ins(%a, %a : i32, i32) outs(%m : memref<8xi32>)
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true)
      ins(%m, %i : memref<8xi32>, tensor<8x1xi32>) outs(%w : tensor<8x1xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  } -> tensor<8x1xi32>
  linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(true)
      ins(%w, %i : tensor<8x1xi32>, tensor<8x1xi32>) outs(%m : memref<8xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  }
  %1 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true)
      ins(%m, %i : memref<8xi32>, tensor<8x1xi32>) outs(%w : tensor<8x1xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  } -> tensor<8x1xi32>
  return %0, %1 : tensor<8x1xi32>, tensor<8x1xi32>
}

// -----

// CHECK-LABEL: func.func @asserts
// CHECK-NEXT: linalg_ext.scalar_assert "unknown"
// CHECK-NEXT: linalg_ext.assert "tensor"
// CHECK-NEXT: return
func.func @asserts(%c: i1, %t: tensor<4xi1>) {
  %true = arith.constant true
  linalg_ext.scalar_assert "true" %true
  linalg_ext.scalar_assert "unknown" %c
  linalg_ext.assert "tensor" ins(%t : tensor<4xi1>)
  return
}

// -----

// An atomic has an effect though nobody looks at what was there; a call of the library has none.
// CHECK-LABEL: func.func @atomics
// CHECK-NEXT: linalg_ext.gather_atomic_rmw
// CHECK-NEXT: linalg_ext.gather_atomic_rmw
// CHECK-NEXT: return
func.func @atomics(%v: tensor<8x1xf32>, %i: tensor<8x1xi64>, %mem: memref<?xf32>, %y: f32) {
  %0 = linalg_ext.gather_atomic_rmw addf acq_rel ins(%v, %i : tensor<8x1xf32>, tensor<8x1xi64>)
      outs(%mem, %v : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %1 = linalg_ext.gather_atomic_rmw addf acq_rel ins(%v, %i : tensor<8x1xf32>, tensor<8x1xi64>)
      outs(%mem, %v : memref<?xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %2 = linalg_ext.libdevice_call ins(%v : tensor<8x1xf32>) outs(%v : tensor<8x1xf32>) symbol = "f" -> tensor<8x1xf32>
  %3 = linalg_ext.scalar_libdevice_call ins(%y : f32) symbol = "f" -> f32
  return
}
