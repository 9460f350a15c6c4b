// RUN: triton-ext-opt %s --load-extension=ttx | triton-ext-opt --load-extension=ttx | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=ttx -mlir-print-op-generic | triton-ext-opt --load-extension=ttx | FileCheck %s

// CHECK-LABEL: func.func @forms
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[M:.*]]: memref<?xi32>, %[[O:.*]]: tensor<?x?x?xi1>)
func.func @forms(%x: tensor<4x8xf32>, %m: memref<?xi32>, %o: tensor<?x?x?xi1>) {
  // As triton-shared prints it.
  // CHECK: ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%[[X]] : tensor<4x8xf32>) outs(%[[X]] : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: ttx.cumsum {axis = 0 : ui32, mine, operandSegmentSizes = array<i32: 1, 1>, reverse} ins(%[[M]] : memref<?xi32>) outs(%[[M]] : memref<?xi32>)
  ttx.cumsum {axis = 0 : ui32, mine, reverse} ins(%m : memref<?xi32>) outs(%m : memref<?xi32>)
  // CHECK: ttx.cumsum {axis = 2 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%[[O]] : tensor<?x?x?xi1>) outs(%[[O]] : tensor<?x?x?xi1>) -> tensor<?x?x?xi1>
  %1 = ttx.cumsum {axis = 2 : ui32} ins(%o : tensor<?x?x?xi1>) outs(%o : tensor<?x?x?xi1>) -> tensor<?x?x?xi1>
  return
}
