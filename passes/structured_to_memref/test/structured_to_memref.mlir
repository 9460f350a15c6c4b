// RUN: triton-ext-opt %s -triton-ext-structured-to-memref -canonicalize -cse -split-input-file | FileCheck %s

// The view has exactly the elements below the bound, which may be below 0 or above the size.
// CHECK-LABEL: tt.func @box
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32>, %[[O:.*]]: index, %[[S:.*]]: index, %[[N:.*]]: index, %[[Z:.*]]: f32)
// CHECK-DAG: %[[MIN:.*]] = arith.minsi %[[N]], %c16
// CHECK-DAG: %[[HIGH:.*]] = arith.maxsi %[[MIN]], %c0
// CHECK: %[[VIEW:.*]] = aux.view %{{.*}} to offset: [%[[O]]], sizes: [3, %[[HIGH]]], strides: [%[[S]], 1] : !llvm.ptr to memref<3x?xf32, strided<[?, 1], offset: ?>>
// CHECK: linalg_ext.pad {{.*}} pvalue(%[[Z]] : f32) low = [0, 0] high = [5,
// CHECK: tensor.extract_slice {{.*}}[0, 0] [3, %[[HIGH]]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[VIEW]]
tt.func @box(%x: !tt.ptr<f32>, %o: index, %s: index, %n: index, %z: f32) {
  %p = tts.make_tptr %x to sizes: [8, 16], strides: [%s, 1], offsets: [%o, 0], shape: [0, 0], order: []
      : <f32> to tensor<8x16x!tt.ptr<f32>>
  %v = "tts.load"(%p, %n, %z) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 3, -9223372036854775808>}>
      : (tensor<8x16x!tt.ptr<f32>>, index, f32) -> tensor<8x16xf32>
  "tts.store"(%p, %v, %n) <{static_mask_dims = array<i64: 3, -9223372036854775808>}>
      : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>, index) -> ()
  tt.return
}

// -----

// With an order, the shape is the extent of a larger tensor.
// CHECK-LABEL: tt.func @block
// CHECK-NOT: scf.for
// CHECK: aux.view %{{.*}} to offset: [5], sizes: [8], strides: [1]
tt.func @block(%x: !tt.ptr<f32>) -> tensor<8xf32> {
  %p = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [5], shape: [6], order: [0]
      : <f32> to tensor<8x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
      : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  tt.return %v : tensor<8xf32>
}

// -----

// 6, 7, 8, 9, then 0, 1, 2, 3: two runs. The other dimension is whole in each.
// CHECK-LABEL: tt.func @wrap
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C10:.*]] = arith.constant 10 : index
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK: scf.for %{{.*}} = %c0 to %[[C2]] step %c1 iter_args(%[[AT:.*]] = %c0, %[[INTO:.*]] = %[[EMPTY]])
// CHECK:   %[[I:.*]] = arith.addi %[[AT]], %[[C6]]
// CHECK:   %[[REM:.*]] = arith.remsi %[[I]], %[[C10]]
// CHECK:   %[[LEFT:.*]] = arith.subi %c8, %[[AT]]
// CHECK:   %[[COUNT:.*]] = arith.minsi %{{.*}}, %[[LEFT]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[AT]], %[[COUNT]]
// CHECK:   %[[FROM:.*]] = arith.addi %[[REM]], %c100
// CHECK:   aux.view %{{.*}} to offset: [%[[FROM]]], sizes: [%[[COUNT]], 4], strides: [1, 50]
// CHECK:   %[[SLICE:.*]] = tensor.insert_slice %{{.*}} into %[[INTO]][%[[AT]], 0] [%[[COUNT]], 4] [1, 1]
// CHECK:   scf.yield %[[NEXT]], %[[SLICE]]
tt.func @wrap(%x: !tt.ptr<f32>) -> tensor<8x4xf32> {
  %p = tts.make_tptr %x to sizes: [8, 4], strides: [1, 50], offsets: [6, 100], shape: [10, 0], order: []
      : <f32> to tensor<8x4x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
      : (tensor<8x4x!tt.ptr<f32>>) -> tensor<8x4xf32>
  tt.return %v : tensor<8x4xf32>
}

// -----

// One row at a time, where the mask is true; columns that are masked off are the default.
// CHECK-LABEL: tt.func @rows
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32>, %[[ROWS:.*]]: tensor<8xi64>, %[[MASK:.*]]: tensor<8xi1>, %[[N:.*]]: index, %[[Z:.*]]: f32)
// CHECK: %[[HIGH:.*]] = arith.maxsi
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[Z]]
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c1 iter_args(%[[INTO:.*]] = %[[FILL]])
// CHECK:   %[[KEEP:.*]] = tensor.extract %[[MASK]][%[[I]]]
// CHECK:   scf.if %[[KEEP]]
// CHECK:     %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[I]]]
// CHECK:     %[[INDEX:.*]] = arith.index_cast %[[ROW]]
// CHECK:     %[[FAR:.*]] = arith.muli %[[INDEX]], %c100
// CHECK:     %[[O:.*]] = arith.addi %[[FAR]], %c7
// CHECK:     aux.view %{{.*}} to offset: [%[[O]]], sizes: [1, %[[HIGH]]], strides: [100, 1]
// CHECK:     tensor.insert_slice %{{.*}} into %[[INTO]][%[[I]], 0] [1, %[[HIGH]]] [1, 1]
// CHECK:   } else {
// CHECK:     scf.yield %[[INTO]]
// CHECK: scf.for %[[J:.*]] = %c0 to %c8 step %c1 {
// CHECK:   scf.if
// CHECK:     tensor.extract_slice %{{.*}}[%[[J]], 0] [1, %[[HIGH]]] [1, 1]
// CHECK:     bufferization.materialize_in_destination
// CHECK-NOT: else
tt.func @rows(%x: !tt.ptr<f32>, %rows: tensor<8xi64>, %mask: tensor<8xi1>, %n: index, %z: f32) {
  %p = tts.make_gather_scatter_tptr %x to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows
      gather_scatter_mask: %mask, strides: [100, 1], offsets: [0, 7] : tensor<8xi64> tensor<8xi1> <f32> to tensor<8x16x!tt.ptr<f32>>
  %v = "tts.load"(%p, %n, %z) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 0, -9223372036854775808>}>
      : (tensor<8x16x!tt.ptr<f32>>, index, f32) -> tensor<8x16xf32>
  "tts.store"(%p, %v, %n) <{static_mask_dims = array<i64: 0, -9223372036854775808>}>
      : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>, index) -> ()
  tt.return
}

// -----

// Without a mask of the pointers, the bound of their dimension ends the loop.
// CHECK-LABEL: tt.func @bound
// CHECK-SAME: tensor<8xi32>, %[[N:.*]]: index)
// CHECK: %[[MIN:.*]] = arith.minsi %[[N]], %c8
// CHECK: %[[HIGH:.*]] = arith.maxsi %[[MIN]], %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[HIGH]] step %c1
tt.func @bound(%x: !tt.ptr<f32>, %rows: tensor<8xi32>, %n: index) -> tensor<8x16xf32> {
  %p = tts.make_gather_scatter_tptr %x to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows,
      strides: [100, 1], offsets: [0, 0] : tensor<8xi32> <f32> to tensor<8x16x!tt.ptr<f32>>
  %v = "tts.load"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808, 16>}>
      : (tensor<8x16x!tt.ptr<f32>>, index) -> tensor<8x16xf32>
  tt.return %v : tensor<8x16xf32>
}

// -----

// Rows that are left out are the default, also without a bound.
// CHECK-LABEL: tt.func @left_out
// CHECK-SAME: %[[Z:[^:]*]]: f32)
// CHECK: linalg.fill ins(%[[Z]] : f32)
tt.func @left_out(%x: !tt.ptr<f32>, %rows: tensor<8xi32>, %mask: tensor<8xi1>, %z: f32) -> tensor<8x16xf32> {
  %p = tts.make_gather_scatter_tptr %x to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows
      gather_scatter_mask: %mask, strides: [100, 1], offsets: [0, 0] : tensor<8xi32> tensor<8xi1> <f32> to tensor<8x16x!tt.ptr<f32>>
  %v = "tts.load"(%p, %z) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64>}>
      : (tensor<8x16x!tt.ptr<f32>>, f32) -> tensor<8x16xf32>
  tt.return %v : tensor<8x16xf32>
}

// -----

// Pointers of elsewhere, atomics.
// CHECK-LABEL: tt.func @stays
// CHECK: "tts.load"
// CHECK: tts.atomic_rmw
// CHECK-NOT: aux.view
tt.func @stays(%p: tensor<8x!tt.ptr<f32>>, %x: !tt.ptr<f32>) -> tensor<8xf32> {
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
      : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  %r = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [0], shape: [0], order: []
      : <f32> to tensor<8x!tt.ptr<f32>>
  %old = tts.atomic_rmw fadd, acq_rel, gpu, %r, %v {static_mask_dims = array<i64>}
      : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> tensor<8xf32>
  tt.return %old : tensor<8xf32>
}

// -----

// The view of a box that does not begin at 0 begins at its first element.
// CHECK-LABEL: tt.func @begins
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[B:[a-z0-9]*]]: index
// CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[B]], %c0
// CHECK: %[[LOW:.*]] = arith.minsi %[[POSITIVE]], %c8
// CHECK: %[[LESS:.*]] = arith.minsi %[[N]], %c8
// CHECK: %[[HIGH:.*]] = arith.maxsi %[[LESS]], %[[LOW]]
// CHECK: %[[SIZE:.*]] = arith.subi %[[HIGH]], %[[LOW]]
// CHECK: %[[STEP:.*]] = arith.muli %[[LOW]], %c3
// CHECK: aux.view %{{.*}} to offset: [%[[STEP]]], sizes: [%[[SIZE]]], strides: [3]
tt.func @begins(%x: !tt.ptr<f32>, %n: index, %b: index, %z: f32) -> tensor<8xf32> {
  %p = tts.make_tptr %x to sizes: [8], strides: [3], offsets: [0], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %v = "tts.load"(%p, %n, %b, %z) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}>
      : (tensor<8x!tt.ptr<f32>>, index, index, f32) -> tensor<8xf32>
  tt.return %v : tensor<8xf32>
}
