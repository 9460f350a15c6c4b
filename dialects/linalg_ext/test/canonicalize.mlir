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

// A pad with another body than yielding its argument stays, and margins that the verifier would reject stay values.
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

// On tensors no operation has an effect: unused ones are removed and equal ones are merged.
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

// Operations that write memory stay, and operations that read it are not moved across a write.
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

// An atomic has an effect even if its result is not used; a call of the library has none.
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

// -----

// A mask that is all true is dropped; an operation whose mask is all false is replaced by its inits.
// CHECK-LABEL: func.func @known_masks
// CHECK-SAME: (%[[T:[^:]*]]: tensor<8xi32>, %[[I:[^:]*]]: tensor<8x1xi32>, %[[W:[^:]*]]: tensor<8x1xi32>, %[[M:[^:]*]]: memref<?xi32>)
// CHECK-NEXT: %[[G:.*]] = linalg_ext.gather {{.*}} ins(%[[T]], %[[I]] : tensor<8xi32>, tensor<8x1xi32>) outs(%[[W]] : tensor<8x1xi32>)
// CHECK: linalg_ext.scatter {{.*}} ins(%[[W]], %[[I]] : tensor<8x1xi32>, tensor<8x1xi32>) outs(%[[M]] : memref<?xi32>)
// CHECK-NOT: linalg_ext.scatter
// CHECK: %[[H:.*]] = linalg_ext.histogram ins(%[[T]] : tensor<8xi32>)
// CHECK-NEXT: return %[[G]], %[[W]], %[[H]], %[[W]]
func.func @known_masks(%t: tensor<8xi32>, %i: tensor<8x1xi32>, %w: tensor<8x1xi32>, %m: memref<?xi32>)
    -> (tensor<8x1xi32>, tensor<8x1xi32>, tensor<8xi32>, tensor<8x1xi32>) {
  %true = arith.constant true
  %e = tensor.empty() : tensor<8xi1>
  %yes = linalg.fill ins(%true : i1) outs(%e : tensor<8xi1>) -> tensor<8xi1>
  %no = arith.constant dense<false> : tensor<8xi1>
  %0 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true)
      ins(%t, %i, %yes : tensor<8xi32>, tensor<8x1xi32>, tensor<8xi1>) outs(%w : tensor<8x1xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  } -> tensor<8x1xi32>
  %1 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true)
      ins(%t, %i, %no : tensor<8xi32>, tensor<8x1xi32>, tensor<8xi1>) outs(%w : tensor<8x1xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  } -> tensor<8x1xi32>
  linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(true)
      ins(%w, %i, %yes : tensor<8x1xi32>, tensor<8x1xi32>, tensor<8xi1>) outs(%m : memref<?xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  }
  linalg_ext.scatter dimension_map = [0] ranged_data(true) overlap_window(false) signed_indice(true)
      ins(%w, %i, %no : tensor<8x1xi32>, tensor<8x1xi32>, tensor<8xi1>) outs(%m : memref<?xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  }
  %2 = linalg_ext.histogram ins(%t, %yes : tensor<8xi32>, tensor<8xi1>) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %i64 = arith.extsi %i : tensor<8x1xi32> to tensor<8x1xi64>
  %3 = linalg_ext.gather_atomic_rmw addi relaxed ins(%w, %i64, %no : tensor<8x1xi32>, tensor<8x1xi64>, tensor<8xi1>)
      outs(%m, %w : memref<?xi32>, tensor<8x1xi32>) -> tensor<8x1xi32>
  return %0, %1, %2, %3 : tensor<8x1xi32>, tensor<8x1xi32>, tensor<8xi32>, tensor<8x1xi32>
}

// -----

// A mask that has different elements, or is not known, stays.
// CHECK-LABEL: func.func @other_masks
// CHECK-COUNT-2: linalg_ext.histogram ins(%{{.*}}, %{{.*}} : tensor<2xi32>, tensor<2xi1>)
func.func @other_masks(%t: tensor<2xi32>, %m: tensor<2xi1>) -> (tensor<2xi32>, tensor<2xi32>) {
  %some = arith.constant dense<[true, false]> : tensor<2xi1>
  %0 = linalg_ext.histogram ins(%t, %some : tensor<2xi32>, tensor<2xi1>) outs(%t : tensor<2xi32>) -> tensor<2xi32>
  %1 = linalg_ext.histogram ins(%t, %m : tensor<2xi32>, tensor<2xi1>) outs(%t : tensor<2xi32>) -> tensor<2xi32>
  return %0, %1 : tensor<2xi32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @flips
// CHECK-SAME: (%[[T:[^:]*]]: tensor<4x1xf32>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<4x1xf32>
// CHECK-DAG: %[[F:.*]] = linalg.fill
// CHECK-NOT: linalg_ext.flip
// CHECK: return %[[T]], %[[T]], %[[C]], %[[F]]
func.func @flips(%t: tensor<4x1xf32>, %a: f32) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %c = arith.constant dense<1.0> : tensor<4x1xf32>
  %f = linalg.fill ins(%a : f32) outs(%t : tensor<4x1xf32>) -> tensor<4x1xf32>
  %0 = linalg_ext.flip dimension = 1 ins(%t : tensor<4x1xf32>) outs(%t : tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = linalg_ext.flip dimension = 0 ins(%t : tensor<4x1xf32>) outs(%c : tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = linalg_ext.flip dimension = 0 ins(%1 : tensor<4x1xf32>) outs(%t : tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = linalg_ext.flip dimension = 0 ins(%c : tensor<4x1xf32>) outs(%t : tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = linalg_ext.flip dimension = 0 ins(%f : tensor<4x1xf32>) outs(%t : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0, %2, %3, %4 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// Flips along two dimensions, of a constant with different elements, and of memory stay.
// CHECK-LABEL: func.func @flips_that_stay
// CHECK-COUNT-4: linalg_ext.flip
func.func @flips_that_stay(%t: tensor<4x2xf32>, %m: memref<1xf32>, %n: memref<1xf32>) -> (tensor<4x2xf32>, tensor<2xf32>) {
  %0 = linalg_ext.flip dimension = 0 ins(%t : tensor<4x2xf32>) outs(%t : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = linalg_ext.flip dimension = 1 ins(%0 : tensor<4x2xf32>) outs(%t : tensor<4x2xf32>) -> tensor<4x2xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = linalg_ext.flip dimension = 0 ins(%c : tensor<2xf32>) outs(%c : tensor<2xf32>) -> tensor<2xf32>
  linalg_ext.flip dimension = 0 ins(%m : memref<1xf32>) outs(%n : memref<1xf32>)
  return %1, %2 : tensor<4x2xf32>, tensor<2xf32>
}

// -----

// A scan of lines of one element is removed; one of lines of two, or of an unknown number of elements, stays.
// CHECK-LABEL: func.func @scans
// CHECK-SAME: (%[[A:[^:]*]]: tensor<4x1xf32>, %[[B:[^:]*]]: tensor<4x?xf32>
// CHECK-NOT: ins(%[[A]] : {{.*}}) dimension = 1
// CHECK: %[[S:.*]] = linalg_ext.scan dimension = 0 {{.*}} ins(%[[A]]
// CHECK: %[[U:.*]] = linalg_ext.scan dimension = 1 {{.*}} ins(%[[B]]
// CHECK: return %[[A]], %[[S]], %[[U]]
func.func @scans(%a: tensor<4x1xf32>, %b: tensor<4x?xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x?xf32>) {
  %0 = linalg_ext.scan dimension = 1 reverse(false) ins(%a : tensor<4x1xf32>) outs(%a : tensor<4x1xf32>) {
  ^bb0(%x: f32, %y: f32):
    %n = arith.negf %y : f32
    linalg_ext.yield %n : f32
  } -> tensor<4x1xf32>
  %1 = linalg_ext.scan dimension = 0 reverse(false) ins(%a : tensor<4x1xf32>) outs(%a : tensor<4x1xf32>) {
  ^bb0(%x: f32, %y: f32):
    %n = arith.negf %y : f32
    linalg_ext.yield %n : f32
  } -> tensor<4x1xf32>
  %2 = linalg_ext.scan dimension = 1 reverse(false) ins(%b : tensor<4x?xf32>) outs(%b : tensor<4x?xf32>) {
  ^bb0(%x: f32, %y: f32):
    %n = arith.negf %y : f32
    linalg_ext.yield %n : f32
  } -> tensor<4x?xf32>
  return %0, %1, %2 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x?xf32>
}

// -----

// Triangles of a 4x6 array that are all ones or all zeros become fills; those that miss this by one element stay.
// CHECK-LABEL: func.func @fills
// CHECK-SAME: (%[[A:[^:]*]]: i32, %[[O:[^:]*]]: tensor<1xi32>, %[[T:[^:]*]]: tensor<4x6xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: linalg.fill ins(%[[A]] : i32) outs(%[[O]] : tensor<1xi32>)
// CHECK: linalg.fill ins(%[[ONE]] : f32) outs(%[[T]] : tensor<4x6xf32>)
// CHECK: linalg_ext.tri ins(%c4 : index)
// CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%[[T]] : tensor<4x6xf32>)
// CHECK: linalg_ext.tri ins(%c-3 : index)
func.func @fills(%a: i32, %o: tensor<1xi32>, %t: tensor<4x6xf32>)
    -> (tensor<1xi32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %c5 = arith.constant 5 : index
  %c4 = arith.constant 4 : index
  %cm4 = arith.constant -4 : index
  %cm3 = arith.constant -3 : index
  %0 = linalg_ext.make_range ins(%a, %a : i32, i32) outs(%o : tensor<1xi32>) -> tensor<1xi32>
  %1 = linalg_ext.tri ins(%c5 : index) outs(%t : tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = linalg_ext.tri ins(%c4 : index) outs(%t : tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = linalg_ext.tri ins(%cm4 : index) outs(%t : tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = linalg_ext.tri ins(%cm3 : index) outs(%t : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0, %1, %2, %3, %4 : tensor<1xi32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// A reduction of no elements is its init; a reduction of one element stays, because it combines it with the init.
// CHECK-LABEL: func.func @reductions
// CHECK-SAME: %[[O:[^:]*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = linalg_ext.reduce_sum {{.*}} ins(%{{.*}} : tensor<4x1xf32>)
// CHECK-NEXT: return %[[O]], %[[R]]
func.func @reductions(%t: tensor<4x0xf32>, %u: tensor<4x1xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg_ext.reduce_max dimensions = [1] ins(%t : tensor<4x0xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg_ext.reduce_sum dimensions = [1] ins(%u : tensor<4x1xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @asserts_of_arrays
// CHECK-NOT: "true"
// CHECK-NOT: "empty"
// CHECK: linalg_ext.assert "false"
// CHECK: linalg_ext.assert "some"
func.func @asserts_of_arrays(%e: tensor<0xi1>) {
  %true = arith.constant dense<true> : tensor<4xi1>
  %false = arith.constant dense<false> : tensor<4xi1>
  %some = arith.constant dense<[true, false]> : tensor<2xi1>
  linalg_ext.assert "true" ins(%true : tensor<4xi1>)
  linalg_ext.assert "empty" ins(%e : tensor<0xi1>)
  linalg_ext.assert "false" ins(%false : tensor<4xi1>)
  linalg_ext.assert "some" ins(%some : tensor<2xi1>)
  return
}

// -----

// A pattern of the tensor dialect removes casts to dynamic sizes, as for every operation in destination style.
// CHECK-LABEL: func.func @casts
// CHECK: linalg_ext.flip dimension = 0 ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
func.func @casts(%t: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<?xf32> {
  %0 = tensor.cast %t : tensor<8xf32> to tensor<?xf32>
  %1 = tensor.cast %o : tensor<8xf32> to tensor<?xf32>
  %2 = linalg_ext.flip dimension = 0 ins(%0 : tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
