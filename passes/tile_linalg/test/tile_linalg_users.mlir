// RUN: triton-ext-opt %s -triton-ext-tile-linalg="tile-sizes=4,3 fuse-users" -canonicalize -cse -split-input-file | FileCheck %s

// The users of the result move into the loops.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[T:[^:]*]]: tensor<8x6xf32>
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c6 step %c3
// CHECK: %[[F:.*]] = linalg_ext.flip dimension = 0 ins(%{{.*}} : tensor<4x3xf32>)
// CHECK: %[[L:.*]] = linalg_ext.libdevice_call ins(%[[F]] : tensor<4x3xf32>)
// CHECK: %[[M:.*]] = linalg_ext.libdevice_call ins(%[[L]] : tensor<4x3xf32>)
// CHECK: tensor.insert_slice %[[M]]
// CHECK-NOT: scf.for
// CHECK-NOT: linalg_ext
func.func @chain(%t: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %o = tensor.empty() : tensor<8x6xf32>
  %0 = linalg_ext.flip dimension = 0 ins(%t : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = linalg_ext.libdevice_call ins(%0 : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) symbol = "f" -> tensor<8x6xf32>
  %2 = linalg_ext.libdevice_call ins(%1 : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) symbol = "g" -> tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}

// -----

// A tile is not all that these users need: the line of a reduction or a scan, the other end of a flip, the windows of a
// gather anywhere. They get loops of their own.
// CHECK-LABEL: func.func @stays
// CHECK: scf.for
// CHECK: linalg_ext.libdevice_call
// CHECK-NOT: linalg_ext
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: linalg_ext.reduce_sum
// CHECK: scf.for
// CHECK: linalg_ext.scan
// CHECK: scf.for
// CHECK: linalg_ext.flip
// CHECK: linalg_ext.gather
func.func @stays(%t: tensor<8x6xf32>, %s: tensor<8xf32>, %i: tensor<5x1xi32>, %g: tensor<5x1x6xf32>)
    -> (tensor<8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<5x1x6xf32>) {
  %o = tensor.empty() : tensor<8x6xf32>
  %0 = linalg_ext.libdevice_call ins(%t : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) symbol = "f" -> tensor<8x6xf32>
  %1 = linalg_ext.reduce_sum dimensions = [1] ins(%0 : tensor<8x6xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg_ext.scan dimension = 1 reverse(false) ins(%0 : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    linalg_ext.yield %y : f32
  } -> tensor<8x6xf32>
  %3 = linalg_ext.flip dimension = 0 ins(%0 : tensor<8x6xf32>) outs(%o : tensor<8x6xf32>) -> tensor<8x6xf32>
  %4 = linalg_ext.gather dimension_map = [0] ranged_data(true) signed_indice(true)
      ins(%0, %i : tensor<8x6xf32>, tensor<5x1xi32>) outs(%g : tensor<5x1x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %a : f32
  } -> tensor<5x1x6xf32>
  return %1, %2, %3, %4 : tensor<8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<5x1x6xf32>
}
