// RUN: triton-linalg-opt %s -collapse-shape -canonicalize -cse -split-input-file | FileCheck %s

// The shapes between two operations go; one dimension is left.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[F:.*]]: f32)
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<24xf32>
// CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1, 2]] : tensor<2x3x4xf32> into tensor<24xf32>
// CHECK-NEXT: %[[A:.*]] = linalg.fill ins(%[[F]] : f32) outs(%[[E]] : tensor<24xf32>)
// CHECK-NEXT: %[[S:.*]] = linalg.map { arith.addf } ins(%[[C]], %[[A]] : tensor<24xf32>, tensor<24xf32>) outs(%[[E]] : tensor<24xf32>)
// CHECK: %[[R:.*]] = tensor.expand_shape %[[S]] {{\[}}[0, 1, 2]] output_shape [2, 3, 4]
// CHECK-NEXT: return %[[R]]
func.func @elementwise(%x: tensor<2x3x4xf32>, %f: f32) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %a = linalg.fill ins(%f : f32) outs(%e : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %s = linalg.map { arith.addf } ins(%x, %a : tensor<2x3x4xf32>, tensor<2x3x4xf32>) outs(%e : tensor<2x3x4xf32>)
  return %s : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>, %[[O:.*]]: tensor<2x3x4x5x6xf32>)
// CHECK-DAG: %[[I:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
// CHECK-DAG: %[[P:.*]] = tensor.collapse_shape %[[O]] {{\[}}[0], [1, 2], [3, 4]] : tensor<2x3x4x5x6xf32> into tensor<2x12x30xf32>
// CHECK: linalg.broadcast ins(%[[I]] : tensor<12xf32>) outs(%[[P]] : tensor<2x12x30xf32>) dimensions = [0, 2]
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3, 4]] output_shape [2, 3, 4, 5, 6]
func.func @broadcast(%x: tensor<3x4xf32>, %o: tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32> {
  %0 = linalg.broadcast ins(%x : tensor<3x4xf32>) outs(%o : tensor<2x3x4x5x6xf32>) dimensions = [0, 3, 4]
  return %0 : tensor<2x3x4x5x6xf32>
}

// -----

// Two reductions at once, of the dimensions in the middle; the result has two dimensions, as before.
// CHECK-LABEL: func.func @reduce
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4x5xf32>, %[[Y:.*]]: tensor<2x3x4x5xi32>, %[[O:.*]]: tensor<2x5xf32>, %[[P:.*]]: tensor<2x5xi32>)
// CHECK-DAG: %[[A:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0], [1, 2], [3]]
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0], [1, 2], [3]]
// CHECK: %[[R:.*]]:2 = linalg.reduce ins(%[[A]], %[[B]] : tensor<2x12x5xf32>, tensor<2x12x5xi32>) outs(%[[O]], %[[P]] : tensor<2x5xf32>, tensor<2x5xi32>) dimensions = [1]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @reduce(%x: tensor<2x3x4x5xf32>, %y: tensor<2x3x4x5xi32>, %o: tensor<2x5xf32>, %p: tensor<2x5xi32>) -> (tensor<2x5xf32>, tensor<2x5xi32>) {
  %0:2 = linalg.reduce ins(%x, %y : tensor<2x3x4x5xf32>, tensor<2x3x4x5xi32>) outs(%o, %p : tensor<2x5xf32>, tensor<2x5xi32>) dimensions = [1, 2]
    (%a: f32, %b: i32, %c: f32, %d: i32) {
      %s = arith.addf %a, %c : f32
      %t = arith.addi %b, %d : i32
      linalg.yield %s, %t : f32, i32
    }
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<2x5xi32>
}

// -----

// All dimensions are reduced, and the result has none; or only the kept ones are adjacent.
// CHECK-LABEL: func.func @reduce_all
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<24xf32>) outs(%{{.*}} : tensor<f32>) dimensions = [0]
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<6x4xf32>) outs(%{{.*}} : tensor<6xf32>) dimensions = [1]
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [2, 3]
func.func @reduce_all(%x: tensor<2x3x4xf32>, %o: tensor<f32>, %p: tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<2x3x4xf32>) outs(%o : tensor<f32>) dimensions = [0, 1, 2]
  %1 = linalg.reduce { arith.addf } ins(%x : tensor<2x3x4xf32>) outs(%p : tensor<2x3xf32>) dimensions = [2]
  return %0, %1 : tensor<f32>, tensor<2x3xf32>
}

// -----

// Three groups, of which the last comes first: 4x5, 6, 2x3.
// CHECK-LABEL: func.func @transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4x5x6xf32>, %[[O:.*]]: tensor<6x4x5x2x3xf32>)
// CHECK-DAG: %[[A:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2, 3], [4]] : tensor<2x3x4x5x6xf32> into tensor<6x20x6xf32>
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %[[O]] {{\[}}[0], [1, 2], [3, 4]] : tensor<6x4x5x2x3xf32> into tensor<6x20x6xf32>
// CHECK: linalg.transpose ins(%[[A]] : tensor<6x20x6xf32>) outs(%[[B]] : tensor<6x20x6xf32>) permutation = [2, 1, 0]
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3, 4]] output_shape [6, 4, 5, 2, 3]
func.func @transpose(%x: tensor<2x3x4x5x6xf32>, %o: tensor<6x4x5x2x3xf32>) -> tensor<6x4x5x2x3xf32> {
  %0 = linalg.transpose ins(%x : tensor<2x3x4x5x6xf32>) outs(%o : tensor<6x4x5x2x3xf32>) permutation = [4, 2, 3, 0, 1]
  return %0 : tensor<6x4x5x2x3xf32>
}

// -----

// Four groups, whose permutation is not its own inverse: 5, 2x3, 6, 4.
// CHECK-LABEL: func.func @cycle
// CHECK: linalg.transpose ins(%{{.*}} : tensor<6x4x5x6xf32>) outs(%{{.*}} : tensor<5x6x6x4xf32>) permutation = [2, 0, 3, 1]
func.func @cycle(%x: tensor<2x3x4x5x6xf32>) -> tensor<5x2x3x6x4xf32> {
  %e = tensor.empty() : tensor<5x2x3x6x4xf32>
  %0 = linalg.transpose ins(%x : tensor<2x3x4x5x6xf32>) outs(%e : tensor<5x2x3x6x4xf32>) permutation = [3, 0, 1, 4, 2]
  return %0 : tensor<5x2x3x6x4xf32>
}

// -----

// Unknown sizes, memrefs, tensors with an encoding, bodies that number elements, and other operations stay.
// CHECK-LABEL: func.func @negative
// CHECK-NOT: collapse_shape
func.func @negative(%x: tensor<?x4xf32>, %m: memref<4x4xf32>, %f: f32, %a: tensor<4x4xf32>, %i: tensor<4x4xindex>, %s: tensor<4x4xf32, 7>) -> (tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xindex>, tensor<4x4xf32, 7>) {
  %0 = linalg.fill ins(%f : f32) outs(%x : tensor<?x4xf32>) -> tensor<?x4xf32>
  linalg.fill ins(%f : f32) outs(%m : memref<4x4xf32>)
  %1 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.map ins(%i : tensor<4x4xindex>) outs(%i : tensor<4x4xindex>)
    (%in: index, %out: index) {
      %n = linalg.index 1 : index
      %sum = arith.addi %in, %n : index
      linalg.yield %sum : index
    }
  %3 = linalg.map { math.absf } ins(%s : tensor<4x4xf32, 7>) outs(%s : tensor<4x4xf32, 7>)
  return %0, %1, %2, %3 : tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xindex>, tensor<4x4xf32, 7>
}
