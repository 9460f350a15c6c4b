// RUN: triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=2,3" -canonicalize -cse -split-input-file | FileCheck %s

// A tile is printed with its place in the array. So is a tile of a tile.
// CHECK-LABEL: func.func @print
// CHECK-SAME: (%[[M:.*]]: memref<4x6xi8>, %[[K:.*]]: index)
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c2
// CHECK: scf.for %[[J:.*]] = %c0 to %c6 step %c3
// CHECK: %[[S:.*]] = memref.subview %[[M]][%[[I]], %[[J]]] [2, 3] [1, 1]
// CHECK: aux.print(%[[S]] : memref<2x3xi8, strided<[6, 1], offset: ?>>) at [%[[I]], %[[J]]] {format = "x: ", hex, whole = array<i64: 4, 6>}
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c2
// CHECK: %[[P:.*]] = affine.apply {{.*}}(%[[I]])[%[[K]]]
// CHECK: aux.print({{.*}}) at [%[[P]], %{{.*}}] {whole = array<i64: 40, 60>}
func.func @print(%m: memref<4x6xi8>, %k: index) {
  aux.print(%m : memref<4x6xi8>) {format = "x: ", hex}
  aux.print(%m : memref<4x6xi8>) at [%k, %k] {whole = array<i64: 40, 60>}
  return
}

// -----

// CHECK-LABEL: func.func @handed_through
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[P:.*]] = aux.print(%[[S]] : tensor<2xi8>) at [%{{.*}}] {whole = array<i64: 4>} -> (tensor<2xi8>)
// CHECK: tensor.insert_slice %[[P]]
func.func @handed_through(%t: tensor<4xi8>) -> tensor<4xi8> {
  %0 = aux.print(%t : tensor<4xi8>) -> (tensor<4xi8>)
  return %0 : tensor<4xi8>
}

// -----

// A tile is of whole elements of the wider type.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME: (%[[T:.*]]: tensor<4x6xi32>)
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c2
// CHECK: scf.for %[[J:.*]] = %c0 to %c6 step %c3
// CHECK: %[[S:.*]] = tensor.extract_slice %[[T]][%[[I]], %[[J]]] [2, 3] [1, 1]
// CHECK-DAG: %[[K:.*]] = affine.apply #{{.*}}(%[[J]])
// CHECK-DAG: %[[C:.*]] = aux.bitcast_ext %[[S]] : tensor<2x3xi32> to tensor<2x12xi8>
// CHECK: tensor.insert_slice %[[C]] into %{{.*}}[%[[I]], %[[K]]] [2, 12] [1, 1]
func.func @narrow(%t: tensor<4x6xi32>) -> tensor<4x24xi8> {
  %0 = aux.bitcast_ext %t : tensor<4x6xi32> to tensor<4x24xi8>
  return %0 : tensor<4x24xi8>
}

// -----

// CHECK-LABEL: func.func @wide
// CHECK-SAME: (%[[T:.*]]: tensor<?x?xi8>)
// CHECK-DAG: %[[D:.*]] = tensor.dim %[[T]], %c1
// CHECK-DAG: %[[N:.*]] = affine.apply #{{.*}}()[%[[D]]]
// CHECK: scf.for %[[J:.*]] = %c0 to %[[N]] step %c3
// CHECK: %[[C:.*]] = aux.bitcast_ext %{{.*}} : tensor<?x?xi8> to tensor<?x?xi32>
// CHECK: tensor.insert_slice %[[C]] into %{{.*}}[%{{.*}}, %[[J]]]
func.func @wide(%t: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %0 = aux.bitcast_ext %t : tensor<?x?xi8> to tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
