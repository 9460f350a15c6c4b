// RUN: triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=0" -canonicalize -cse -split-input-file | FileCheck %s

// The sizes of results are those of inits, and in the end of what the function gets. Nothing is left of operations whose
// results only gave sizes.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[T:.*]]: tensor<?x?xf32>, %[[N:.*]]: index, %{{.*}}: tensor<?xi32>
// CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[D:.*]] = tensor.dim %[[T]], %[[C1]]
// CHECK-NEXT: return %[[N]], %[[D]]
func.func @chain(%t: tensor<?x?xf32>, %n: index, %j: tensor<?xi32>, %p: tensor<?xi32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %o = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<?x?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %0 = tensor.dim %r, %c0 : tensor<?xf32>
  %s = linalg_ext.flip dimension = 1 ins(%t : tensor<?x?xf32>) outs(%t : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = tensor.dim %s, %c1 : tensor<?x?xf32>
  return %0, %1 : index, index
}

// -----

// The second result has the size of the second init. A print hands its value through, a cast changes the innermost size.
// CHECK: #[[FOURTH:.*]] = affine_map<()[s0] -> (s0 floordiv 4)>
// CHECK-LABEL: func.func @results
// CHECK-SAME: (%{{.*}}: tensor<?x8xi32>, %{{.*}}: tensor<?xi32>, %[[P:.*]]: tensor<?xi32>, %[[B:.*]]: tensor<?xi8>)
// CHECK-DAG: %[[Q:.*]] = tensor.dim %[[P]]
// CHECK-DAG: %[[C:.*]] = tensor.dim %[[B]]
// CHECK-DAG: %[[W:.*]] = affine.apply #[[FOURTH]]()[%[[C]]]
// CHECK: return %[[Q]], %[[C]], %[[W]]
func.func @results(%t: tensor<?x8xi32>, %o: tensor<?xi32>, %p: tensor<?xi32>, %b: tensor<?xi8>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %r:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%t, %t : tensor<?x8xi32>, tensor<?x8xi32>)
      outs(%o, %p : tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>, tensor<?xi32>
  %0 = tensor.dim %r#1, %c0 : tensor<?xi32>
  %s = aux.print(%b : tensor<?xi8>) -> (tensor<?xi8>)
  %1 = tensor.dim %s, %c0 : tensor<?xi8>
  %c = aux.bitcast_ext %s : tensor<?xi8> to tensor<?xi32>
  %2 = tensor.dim %c, %c0 : tensor<?xi32>
  return %0, %1, %2 : index, index, index
}
