// RUN: triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=4,3 fuse" -canonicalize -cse -split-input-file | FileCheck %s

// The producers of the operands move into the loops of their user.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[T:[^:]*]]: tensor<8x6xf32>
// CHECK-NOT: linalg_ext.flip
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c6 step %c3
// CHECK: %[[S:.*]] = tensor.extract_slice %[[T]][%{{.*}}, %[[J]]] [4, 3] [1, 1]
// CHECK: %[[F:.*]] = linalg_ext.flip dimension = 0 ins(%[[S]] : tensor<4x3xf32>)
// CHECK: %[[L:.*]] = linalg_ext.libdevice_call ins(%[[F]] : tensor<4x3xf32>)
// CHECK: tensor.insert_slice %[[L]]
// CHECK-NOT: linalg_ext.flip
func.func @chain(%t: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %o = tensor.empty() : tensor<8x6xf32>
  %0 = linalg_ext.flip dimension = 0 ins(%t : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = linalg_ext.libdevice_call ins(%0 : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) symbol = "f" -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// The reduced dimension is not tiled: the fill of the init would start again in each tile.
// CHECK-LABEL: func.func @reduction
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4
// CHECK-NOT: scf.for
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK: linalg_ext.reduce_sum dimensions = [1] ins(%{{.*}} : tensor<4x6xf32>)
func.func @reduction(%t: tensor<8x6xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<8x6xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// An operation that reads memory does not move across the store, and one with two users is not duplicated.
// CHECK-LABEL: func.func @stays
// CHECK: linalg.copy
// CHECK: scf.for
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: linalg_ext.flip
// CHECK: scf.for
// CHECK: linalg_ext.libdevice_call
// CHECK: scf.for
// CHECK: linalg_ext.libdevice_call
func.func @stays(%m: memref<8xf32>, %a: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %o = tensor.empty() : tensor<8xf32>
  %0 = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
  %1 = linalg.copy ins(%0 : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  linalg.fill ins(%a : f32) outs(%m : memref<8xf32>)
  %2 = linalg_ext.flip dimension = 0 ins(%1 : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %3 = linalg_ext.libdevice_call ins(%2 : tensor<8xf32>) outs(%o : tensor<8xf32>) symbol = "f" -> tensor<8xf32>
  %4 = linalg_ext.libdevice_call ins(%2 : tensor<8xf32>) outs(%o : tensor<8xf32>) symbol = "g" -> tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

// -----

// An operation that writes memory is not duplicated.
// CHECK-LABEL: func.func @atomic
// CHECK-COUNT-1: linalg_ext.atomic_rmw
// CHECK-NOT: linalg_ext.atomic_rmw
func.func @atomic(%v: tensor<8xf32>, %m: memref<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg_ext.atomic_rmw addf acq_rel ins(%v : tensor<8xf32>) outs(%m, %o : memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
