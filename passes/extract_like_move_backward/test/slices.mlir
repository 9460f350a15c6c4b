// RUN: triton-linalg-opt %s -extract-like-move-backward -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,STATIC
// RUN: triton-linalg-opt %s -extract-like-move-backward="dynamic-slices=true" -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,DYNAMIC

// A slice of a map is the map of slices. The dimension that the slice drops goes last.
// CHECK-LABEL: func.func @map
// CHECK-SAME: (%[[A:.*]]: tensor<128x16xi32>, %[[B:.*]]: tensor<128x16xi32>)
// CHECK-DAG: %[[X:.*]] = tensor.extract_slice %[[A]][0, 3] [16, 1] [2, 1] : tensor<128x16xi32> to tensor<16x1xi32>
// CHECK-DAG: %[[Y:.*]] = tensor.extract_slice %[[B]][0, 3] [16, 1] [2, 1] : tensor<128x16xi32> to tensor<16x1xi32>
// CHECK: %[[M:.*]] = linalg.map { arith.subi {{.*}} } ins(%[[X]], %[[Y]] : tensor<16x1xi32>, tensor<16x1xi32>)
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0, 1]] : tensor<16x1xi32> into tensor<16xi32>
// CHECK: return %[[R]]
func.func @map(%a: tensor<128x16xi32>, %b: tensor<128x16xi32>) -> tensor<16xi32> {
  %e = tensor.empty() : tensor<128x16xi32>
  %0 = linalg.map { arith.subi } ins(%a, %b : tensor<128x16xi32>, tensor<128x16xi32>) outs(%e : tensor<128x16xi32>)
  %1 = tensor.extract_slice %0[0, 3] [16, 1] [2, 1] : tensor<128x16xi32> to tensor<16xi32>
  return %1 : tensor<16xi32>
}

// -----

// Each dimension keeps its offset, size and stride through a change of the shape.
// CHECK-LABEL: func.func @shapes
// CHECK-SAME: (%[[T:.*]]: tensor<5x1x7xi32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[T]][2, 0, 1] [2, 1, 3] [1, 1, 2] : tensor<5x1x7xi32> to tensor<2x1x3xi32>
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0, 1], [2]] : tensor<2x1x3xi32> into tensor<2x3xi32>
// CHECK: %[[P:.*]] = linalg.transpose ins(%[[C]] : tensor<2x3xi32>) outs(%{{.*}} : tensor<3x2xi32>) permutation = [1, 0]
// CHECK: return %[[P]]
func.func @shapes(%t: tensor<5x1x7xi32>) -> tensor<3x2xi32> {
  %e = tensor.empty() : tensor<7x5xi32>
  %c = tensor.collapse_shape %t [[0, 1], [2]] : tensor<5x1x7xi32> into tensor<5x7xi32>
  %p = linalg.transpose ins(%c : tensor<5x7xi32>) outs(%e : tensor<7x5xi32>) permutation = [1, 0]
  %x = tensor.expand_shape %p [[0], [1, 2]] output_shape [7, 1, 5] : tensor<7x5xi32> into tensor<7x1x5xi32>
  %s = tensor.extract_slice %x[1, 0, 2] [3, 1, 2] [2, 1, 1] : tensor<7x1x5xi32> to tensor<3x2xi32>
  return %s : tensor<3x2xi32>
}

// -----

// A slice of a range is a range; a slice of a broadcast is one of its input.
// CHECK-LABEL: func.func @range
// CHECK-SAME: (%[[T:.*]]: tensor<16xi32>)
// CHECK-DAG: %[[C20:.*]] = arith.constant 20 : i32
// CHECK-DAG: %[[C28:.*]] = arith.constant 28 : i32
// CHECK: %[[R:.*]] = linalg_ext.make_range ins(%[[C20]], %[[C28]] : i32, i32) outs(%{{.*}} : tensor<8xi32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[T]][4] [8] [1] : tensor<16xi32> to tensor<8xi32>
// CHECK: %[[A:.*]] = arith.addi %[[R]], %[[S]] : tensor<8xi32>
// CHECK: %[[B:.*]] = linalg.broadcast ins(%[[A]] : tensor<8xi32>) outs(%{{.*}} : tensor<2x8xi32>) dimensions = [0]
// CHECK: return %[[B]]
func.func @range(%t: tensor<16xi32>) -> tensor<2x8xi32> {
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %e = tensor.empty() : tensor<16xi32>
  %w = tensor.empty() : tensor<64x16xi32>
  %r = linalg_ext.make_range ins(%c16, %c32 : i32, i32) outs(%e : tensor<16xi32>) -> tensor<16xi32>
  %a = arith.addi %r, %t : tensor<16xi32>
  %b = linalg.broadcast ins(%a : tensor<16xi32>) outs(%w : tensor<64x16xi32>) dimensions = [0]
  %s = tensor.extract_slice %b[3, 4] [2, 8] [5, 1] : tensor<64x16xi32> to tensor<2x8xi32>
  return %s : tensor<2x8xi32>
}

// -----

// These slices stay: of a range, with steps; of a map that reads its output; and of a dimension that is split in two.
// CHECK-LABEL: func.func @stays
// CHECK: %[[R:.*]] = linalg_ext.make_range
// CHECK: tensor.extract_slice %[[R]][0] [8] [2]
// CHECK: %[[M:.*]] = linalg.map
// CHECK: tensor.extract_slice %[[M]][0] [8] [1]
// CHECK: %[[X:.*]] = tensor.expand_shape
// CHECK: tensor.extract_slice %[[X]][2, 0] [1, 4] [1, 1]
func.func @stays(%t: tensor<16xi32>, %a: i32, %b: i32) -> (tensor<8xi32>, tensor<8xi32>, tensor<1x4xi32>) {
  %e = tensor.empty() : tensor<16xi32>
  %r = linalg_ext.make_range ins(%a, %b : i32, i32) outs(%e : tensor<16xi32>) -> tensor<16xi32>
  %0 = tensor.extract_slice %r[0] [8] [2] : tensor<16xi32> to tensor<8xi32>
  %m = linalg.map ins(%r : tensor<16xi32>) outs(%t : tensor<16xi32>) (%in: i32, %out: i32) {
    %s = arith.addi %in, %out : i32
    linalg.yield %s : i32
  }
  %1 = tensor.extract_slice %m[0] [8] [1] : tensor<16xi32> to tensor<8xi32>
  %x = tensor.expand_shape %t [[0, 1]] output_shape [4, 4] : tensor<16xi32> into tensor<4x4xi32>
  %2 = tensor.extract_slice %x[2, 0] [1, 4] [1, 1] : tensor<4x4xi32> to tensor<1x4xi32>
  return %0, %1, %2 : tensor<8xi32>, tensor<8xi32>, tensor<1x4xi32>
}

// -----

// A slice of dynamic size moves if that is asked for.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[T:.*]]: tensor<16xf32>, %[[N:.*]]: index)
// STATIC: %[[X:.*]] = math.exp %[[T]] : tensor<16xf32>
// STATIC: tensor.extract_slice %[[X]][0] [%[[N]]] [1]
// DYNAMIC: %[[S:.*]] = tensor.extract_slice %[[T]][0] [%[[N]]] [1]
// DYNAMIC: %[[X:.*]] = math.exp %[[S]] : tensor<?xf32>
// DYNAMIC: return %[[X]]
func.func @dynamic(%t: tensor<16xf32>, %n: index) -> tensor<?xf32> {
  %x = math.exp %t : tensor<16xf32>
  %s = tensor.extract_slice %x[0] [%n] [1] : tensor<16xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}
