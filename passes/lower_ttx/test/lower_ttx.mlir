// RUN: triton-linalg-opt %s --load-extension=ttx -lower-ttx | FileCheck %s

// CHECK-LABEL: func.func @floats
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[O:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[R:.*]] = linalg_ext.scan dimension = 1 reverse(false) ins(%[[X]] : tensor<4x8xf32>) outs(%[[O]] : tensor<4x8xf32>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[E:.*]]: f32):
// CHECK-NEXT:   %[[S:.*]] = arith.addf %[[A]], %[[E]] : f32
// CHECK-NEXT:   linalg_ext.yield %[[S]] : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @floats(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @integers_in_memory
// CHECK-SAME: (%[[X:.*]]: memref<?x8xi16>, %[[O:.*]]: memref<?x8xi16>)
// CHECK-NEXT: linalg_ext.scan dimension = 0 reverse(true) ins(%[[X]] : memref<?x8xi16>) outs(%[[O]] : memref<?x8xi16>) {
// CHECK:        arith.addi %{{.*}}, %{{.*}} : i16
func.func @integers_in_memory(%x: memref<?x8xi16>, %o: memref<?x8xi16>) {
  ttx.cumsum {axis = 0 : ui32, reverse} ins(%x : memref<?x8xi16>) outs(%o : memref<?x8xi16>)
  return
}
