// RUN: triton-ext-opt %s -triton-ext-unstructured-to-memref -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func @masked
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[O:.*]]: tensor<2x4xi32>, %[[M:.*]]: tensor<2x4xi1>, %[[Z:.*]]: f32)
// CHECK: %[[WIDE:.*]] = arith.extsi %[[O]] : tensor<2x4xi32> to tensor<2x4xi64>
// CHECK: %[[VIEW:.*]] = aux.view %{{.*}} to offset: [0], sizes: [9223372036854775807], strides: [1]
// CHECK: %[[WINDOWS:.*]] = tensor.expand_shape %{{.*}} output_shape [8, 1] : tensor<8xi64> into tensor<8x1xi64>
// CHECK: %[[MEMORY:.*]] = bufferization.to_tensor %[[VIEW]]
// CHECK: %[[MASK:.*]] = tensor.collapse_shape %[[M]]
// CHECK: linalg_ext.gather dimension_map = [0] {{.*}}ins(%[[MEMORY]], %[[WINDOWS]], %[[MASK]] :
// CHECK: linalg_ext.scatter dimension_map = [0] {{.*}}ins(%{{.*}}, %[[WINDOWS]], %[[MASK]] : {{.*}}) outs(%[[VIEW]] :
// CHECK-NOT: tts.
tt.func @masked(%x: !tt.ptr<f32>, %o: tensor<2x4xi32>, %m: tensor<2x4xi1>, %z: f32) {
  %v = tts.gather %x[%o] mask = %m default = %z : (<f32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  tts.scatter %v into %x[%o] mask = %m : tensor<2x4xf32> into (<f32>, tensor<2x4xi32>)
  tt.return
}

// -----

// i64 stays; without a mask, nothing fills the destination.
// CHECK-LABEL: tt.func @whole
// CHECK-NOT: linalg.fill
// CHECK-NOT: arith.extsi
// CHECK: linalg_ext.gather dimension_map = [0] {{.*}}ins(%{{.*}}, %{{.*}} : tensor<{{.*}}>, tensor<8x1xi64>)
tt.func @whole(%x: !tt.ptr<f32>, %o: tensor<8xi64>) -> tensor<8xf32> {
  %v = tts.gather %x[%o] : (<f32>, tensor<8xi64>) -> tensor<8xf32>
  tt.return %v : tensor<8xf32>
}

// -----

// A mask without a default leaves zeros.
// CHECK-LABEL: tt.func @zeros
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: linalg_ext.gather {{.*}} outs(%[[FILL]] : tensor<8x1xf32>)
tt.func @zeros(%x: !tt.ptr<f32>, %o: tensor<8xi64>, %m: tensor<8xi1>) -> tensor<8xf32> {
  %v = tts.gather %x[%o] mask = %m : (<f32>, tensor<8xi64>) -> tensor<8xf32>
  tt.return %v : tensor<8xf32>
}

// -----

// Scalars are loaded and stored only if the mask is true.
// CHECK-LABEL: tt.func @scalars
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32>, %[[O:.*]]: i32, %[[M:.*]]: i1, %[[Z:.*]]: f32)
// CHECK: %[[I:.*]] = arith.index_cast %[[O]] : i32 to index
// CHECK: %[[V:.*]] = scf.if %[[M]] -> (f32) {
// CHECK:   %[[VIEW:.*]] = aux.view %{{.*}} to offset: [%[[I]]], sizes: [1], strides: [1]
// CHECK:   memref.load %[[VIEW]]
// CHECK: } else {
// CHECK:   scf.yield %[[Z]]
// CHECK: scf.if %[[M]] {
// CHECK:   memref.store %[[V]]
tt.func @scalars(%x: !tt.ptr<f32>, %o: i32, %m: i1, %z: f32) {
  %v = tts.gather %x[%o] mask = %m default = %z : (<f32>, i32) -> f32
  tts.scatter %v into %x[%o] mask = %m : f32 into (<f32>, i32)
  tt.return
}

// -----

// CHECK-LABEL: tt.func @negative_no_dimensions
// CHECK: tts.gather
tt.func @negative_no_dimensions(%x: !tt.ptr<f32>, %o: tensor<i32>) -> tensor<f32> {
  %v = tts.gather %x[%o] : (<f32>, tensor<i32>) -> tensor<f32>
  tt.return %v : tensor<f32>
}

// -----

// CHECK-LABEL: tt.func @negative_unknown_size
// CHECK: tts.gather
// CHECK: tts.scatter
tt.func @negative_unknown_size(%x: !tt.ptr<f32>, %o: tensor<?xi32>) {
  %v = tts.gather %x[%o] : (<f32>, tensor<?xi32>) -> tensor<?xf32>
  tts.scatter %v into %x[%o] : tensor<?xf32> into (<f32>, tensor<?xi32>)
  tt.return
}
