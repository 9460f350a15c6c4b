// RUN: triton-ext-opt %s --load-extension=ttx -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @one_element
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xf32>, %[[O:.*]]: tensor<4x1xf32>)
// CHECK-NEXT: return %[[X]]
func.func @one_element(%x: tensor<4x1xf32>, %o: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = ttx.cumsum {axis = 1 : ui32} ins(%x : tensor<4x1xf32>) outs(%o : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// CHECK-LABEL: func.func @zeros
// CHECK-DAG: %[[I:.*]] = arith.constant dense<0> : tensor<8xi32>
// CHECK-DAG: %[[F:.*]] = arith.constant dense<-0.000000e+00> : tensor<8xf32>
// CHECK-NEXT: return %[[I]], %[[F]]
func.func @zeros(%o: tensor<8xi32>, %p: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xf32>) {
  %i = arith.constant dense<0> : tensor<8xi32>
  %f = arith.constant dense<-0.0> : tensor<8xf32>
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%i : tensor<8xi32>) outs(%o : tensor<8xi32>) -> tensor<8xi32>
  %1 = ttx.cumsum {axis = 0 : ui32, reverse} ins(%f : tensor<8xf32>) outs(%p : tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xi32>, tensor<8xf32>
}

// -----

// Several elements, a number of them that is not known, other types, and memrefs stay.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-4: ttx.cumsum
func.func @stay(%x: tensor<4x1xf32>, %y: tensor<?xf32>, %z: tensor<1xf32>, %m: memref<1xf32>) -> (tensor<4x1xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<4x1xf32>) outs(%x : tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = ttx.cumsum {axis = 0 : ui32} ins(%y : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %2 = ttx.cumsum {axis = 0 : ui32} ins(%z : tensor<1xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  ttx.cumsum {axis = 0 : ui32} ins(%m : memref<1xf32>) outs(%m : memref<1xf32>)
  return %0, %1, %2 : tensor<4x1xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// A tensor that nobody uses goes; writes of memory stay, and no load of it is merged across them.
// CHECK-LABEL: func.func @effects
// CHECK-SAME: (%{{.*}}: tensor<4xf32>, %[[M:.*]]: memref<4xf32>, %[[N:.*]]: memref<4xf32>)
// CHECK-NEXT: %[[C:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[A:.*]] = memref.load %[[N]][%[[C]]]
// CHECK-NEXT: ttx.cumsum
// CHECK-NEXT: %[[B:.*]] = memref.load %[[N]][%[[C]]]
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @effects(%x: tensor<4xf32>, %m: memref<4xf32>, %n: memref<4xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %0 = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %1 = memref.load %n[%c0] : memref<4xf32>
  ttx.cumsum {axis = 0 : ui32} ins(%m : memref<4xf32>) outs(%n : memref<4xf32>)
  %2 = memref.load %n[%c0] : memref<4xf32>
  return %1, %2 : f32, f32
}
