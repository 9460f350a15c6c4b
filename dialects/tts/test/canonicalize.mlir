// RUN: triton-ext-opt %s --load-extension=tts -canonicalize -split-input-file | FileCheck %s

// Constants become static numbers, except for a negative shape, which the verifier rejects.
// CHECK-LABEL: tt.func @constants
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: index, %[[R:.*]]: tensor<4xi32>)
// CHECK-NEXT: %[[M:.*]] = arith.constant -3 : index
// CHECK-NEXT: tts.make_tptr %[[X]] to sizes: [4, 8], strides: [8, %[[N]]], offsets: [-3, %[[N]]], shape: [%[[M]], 8], order: [] {mine}
// CHECK-NEXT: tts.make_gather_scatter_tptr %[[X]] to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %[[R]], strides: [-3, 8], offsets: [0, 8]
tt.func @constants(%x: !tt.ptr<f32>, %n: index, %rows: tensor<4xi32>) -> (tensor<4x8x!tt.ptr<f32>>, tensor<4x8x!tt.ptr<f32>>) {
  %c8 = arith.constant 8 : index
  %m3 = arith.constant -3 : index
  %0 = tts.make_tptr %x to sizes: [4, 8], strides: [%c8, %n], offsets: [%m3, %n], shape: [%m3, %c8], order: [] {mine} : <f32> to tensor<4x8x!tt.ptr<f32>>
  %1 = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %rows, strides: [%m3, %c8], offsets: [0, %c8] : tensor<4xi32> <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return %0, %1 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8x!tt.ptr<f32>>
}

// -----

// A stride of 0 of a dimension of one element becomes that of a contiguous tensor; other strides stay.
// CHECK-LABEL: tt.func @one_element
// CHECK: tts.make_tptr %{{.*}} to sizes: [1, 32, 1, 64], strides: [2048, 64, 64, 1],
// CHECK: tts.make_tptr %{{.*}} to sizes: [4, 1], strides: [0, 7],
tt.func @one_element(%x: !tt.ptr<f32>) -> (tensor<1x32x1x64x!tt.ptr<f32>>, tensor<4x1x!tt.ptr<f32>>) {
  %0 = tts.make_tptr %x to sizes: [1, 32, 1, 64], strides: [0, 64, 0, 1], offsets: [0, 0, 0, 0], shape: [0, 0, 0, 0], order: [] : <f32> to tensor<1x32x1x64x!tt.ptr<f32>>
  %1 = tts.make_tptr %x to sizes: [4, 1], strides: [0, 7], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x1x!tt.ptr<f32>>
  tt.return %0, %1 : tensor<1x32x1x64x!tt.ptr<f32>>, tensor<4x1x!tt.ptr<f32>>
}

// -----

// The last address of the first is 29, below 30. It is 30 in the second, and -1 in the third.
// CHECK-LABEL: tt.func @wrap_around
// CHECK: offsets: [8], shape: [0]
// CHECK: offsets: [9], shape: [30]
// CHECK: offsets: [20], shape: [30]
// CHECK: offsets: [0, 0], shape: [8, 8], order: [1, 0]
tt.func @wrap_around(%x: !tt.ptr<f32>) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<4x4x!tt.ptr<f32>>) {
  %0 = tts.make_tptr %x to sizes: [8], strides: [3], offsets: [8], shape: [30], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %1 = tts.make_tptr %x to sizes: [8], strides: [3], offsets: [9], shape: [30], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %2 = tts.make_tptr %x to sizes: [8], strides: [-3], offsets: [20], shape: [30], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %3 = tts.make_tptr %x to sizes: [4, 4], strides: [8, 1], offsets: [0, 0], shape: [8, 8], order: [1, 0] : <f32> to tensor<4x4x!tt.ptr<f32>>
  tt.return %0, %1, %2, %3 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<4x4x!tt.ptr<f32>>
}

// -----

// A mask of the whole goes, with the default. With a mask of nothing, the default is all.
// CHECK-LABEL: tt.func @load
// CHECK-SAME: , %[[O:.*]]: f32
// CHECK-DAG: %[[P:.*]] = tts.make_tptr
// CHECK-DAG: %[[W:.*]] = "tts.load"(%[[P]]) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
// CHECK-DAG: %[[S:.*]] = "tts.load"(%[[P]], %[[O]]) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 7>}>
// CHECK-DAG: %[[N:.*]] = tt.splat %[[O]]
// CHECK: tt.return %[[W]], %[[S]], %[[N]]
tt.func @load(%x: !tt.ptr<f32>, %other: f32) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c9 = arith.constant 9 : index
  %c7 = arith.constant 7 : index
  %m1 = arith.constant -1 : index
  %p = tts.make_tptr %x to sizes: [8], strides: [3], offsets: [8], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %0 = "tts.load"(%p, %c9, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<8x!tt.ptr<f32>>, index, f32) -> tensor<8xf32>
  %1 = "tts.load"(%p, %c7, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<8x!tt.ptr<f32>>, index, f32) -> tensor<8xf32>
  %2 = "tts.load"(%p, %m1, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<8x!tt.ptr<f32>>, index, f32) -> tensor<8xf32>
  tt.return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// With a mask of the pointers, a bound of 0 is not a mask of nothing. Of pointers that are not known, it may be one.
// CHECK-LABEL: tt.func @masked_pointers
// CHECK: "tts.load"(%{{.*}}, %{{.*}}) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 0, 8>}>
// CHECK: "tts.load"(%{{.*}}, %{{.*}}) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 0, 8>}>
// CHECK: "tts.store"(%{{.*}}, %{{.*}}) <{static_mask_dims = array<i64: 0, 8>}>
tt.func @masked_pointers(%x: !tt.ptr<f32>, %rows: tensor<4xi32>, %m: tensor<4xi1>, %q: tensor<4x8x!tt.ptr<f32>>, %other: f32) -> tensor<4x8xf32> {
  %p = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %rows gather_scatter_mask: %m, strides: [8, 1], offsets: [0, 0] : tensor<4xi32> tensor<4xi1> <f32> to tensor<4x8x!tt.ptr<f32>>
  %0 = "tts.load"(%p, %other) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 0, 8>}> : (tensor<4x8x!tt.ptr<f32>>, f32) -> tensor<4x8xf32>
  %1 = "tts.load"(%q, %other) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 0, 8>}> : (tensor<4x8x!tt.ptr<f32>>, f32) -> tensor<4x8xf32>
  "tts.store"(%p, %1) <{static_mask_dims = array<i64: 0, 8>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  tt.return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: tt.func @writes
// CHECK-NEXT: %[[P:.*]] = tts.make_gather_scatter_tptr
// CHECK-NEXT: "tts.store"(%[[P]], %{{.*}}) <{static_mask_dims = array<i64>}>
// CHECK-NEXT: tts.atomic_rmw fadd, relaxed, gpu, %[[P]], %{{.*}} {static_mask_dims = array<i64>}
// CHECK-NEXT: %[[R:.*]] = tts.atomic_rmw fadd, relaxed, gpu, %[[P]], %{{.*}} {static_mask_dims = array<i64: 4, 0>}
// CHECK-NEXT: tt.return %[[R]]
tt.func @writes(%x: !tt.ptr<f32>, %rows: tensor<4xi32>, %v: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %p = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %rows, strides: [8, 1], offsets: [0, 0] : tensor<4xi32> <f32> to tensor<4x8x!tt.ptr<f32>>
  "tts.store"(%p, %v, %c8) <{static_mask_dims = array<i64: 4, -9223372036854775808>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> ()
  "tts.store"(%p, %v, %c0) <{static_mask_dims = array<i64: 4, -9223372036854775808>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> ()
  %0 = tts.atomic_rmw fadd, relaxed, gpu, %p, %v, %c8 {static_mask_dims = array<i64: 4, -9223372036854775808>} : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> tensor<4x8xf32>
  %1 = tts.atomic_rmw fadd, relaxed, gpu, %p, %v, %c0 {static_mask_dims = array<i64: 4, -9223372036854775808>} : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> tensor<4x8xf32>
  %2 = tts.atomic_rmw fadd, relaxed, gpu, %p, %v, %c0 {static_mask_dims = array<i64: 4, -9223372036854775808>} : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> tensor<4x8xf32>
  tt.return %2 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: tt.func @gather
// CHECK-SAME: %[[X:[a-z0-9]*]]: !tt.ptr<f32>, %[[I:[a-z0-9]*]]: tensor<4xi32>, %[[J:[a-z0-9]*]]: i32, %[[M:[a-z0-9]*]]: tensor<4xi1>, %[[O:[a-z0-9]*]]: f32
// CHECK-DAG: %[[D:.*]] = tt.splat %[[O]]
// CHECK-DAG: %[[A:.*]] = tts.gather %[[X]][%[[I]]] : (<f32>
// CHECK-DAG: %[[P:.*]] = tts.gather %[[X]][%[[I]]] mask = %{{.*}} : (<f32>
// CHECK-DAG: %[[Q:.*]] = tts.gather %[[X]][%[[I]]] mask = %[[M]] default = %[[O]] : (<f32>
// CHECK: tt.return %[[A]], %[[P]], %[[Q]], %[[D]], %[[O]]
tt.func @gather(%x: !tt.ptr<f32>, %i: tensor<4xi32>, %j: i32, %m: tensor<4xi1>, %other: f32)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, f32) {
  %true = arith.constant true
  %all = tt.splat %true : i1 -> tensor<4xi1>
  %some = arith.constant dense<[true, true, false, true]> : tensor<4xi1>
  %none = arith.constant dense<false> : tensor<4xi1>
  %false = arith.constant false
  %0 = tts.gather %x[%i] mask = %all default = %other : (<f32>, tensor<4xi32>) -> tensor<4xf32>
  %1 = tts.gather %x[%i] mask = %some : (<f32>, tensor<4xi32>) -> tensor<4xf32>
  %2 = tts.gather %x[%i] mask = %m default = %other : (<f32>, tensor<4xi32>) -> tensor<4xf32>
  %3 = tts.gather %x[%i] mask = %none default = %other : (<f32>, tensor<4xi32>) -> tensor<4xf32>
  %4 = tts.gather %x[%j] mask = %false default = %other : (<f32>, i32) -> f32
  tt.return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, f32
}

// -----

// CHECK-LABEL: tt.func @scatter
// CHECK-NEXT: tts.scatter %{{.*}} into %{{.*}}[%{{.*}}] :
// CHECK-NEXT: tts.atomic_rmw add, relaxed, gpu, %{{.*}} into %{{.*}}[%{{.*}}] :
// CHECK-NEXT: tt.return
tt.func @scatter(%x: !tt.ptr<i32>, %i: tensor<4xi32>) {
  %all = arith.constant dense<true> : tensor<4xi1>
  %none = arith.constant dense<false> : tensor<4xi1>
  tts.scatter %i into %x[%i] mask = %all : tensor<4xi32> into (<i32>, tensor<4xi32>)
  tts.scatter %i into %x[%i] mask = %none : tensor<4xi32> into (<i32>, tensor<4xi32>)
  %0 = tts.atomic_rmw add, relaxed, gpu, %i into %x[%i] mask = %all : tensor<4xi32> into (<i32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = tts.atomic_rmw add, relaxed, gpu, %i into %x[%i] mask = %none : tensor<4xi32> into (<i32>, tensor<4xi32>) -> tensor<4xi32>
  tt.return
}

// -----

// Bounds from below: of 0 they exclude nothing, and an empty box accesses
// nothing.
// CHECK-LABEL: tt.func @begins
// CHECK-SAME: %[[OTHER:[a-z0-9]*]]: f32, %[[N:[a-z0-9]*]]: index)
// CHECK-DAG: %[[EMPTY:.*]] = tt.splat %[[OTHER]] : f32 -> tensor<4x8xf32>
// CHECK-DAG: %[[A:.*]] = "tts.load"(%{{.*}}, %[[N]], %[[OTHER]]) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 4, -9223372036854775808>}>
// CHECK-DAG: %[[B:.*]] = "tts.load"(%{{[^,]*}}) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
// CHECK-DAG: %[[C:.*]] = "tts.load"(%{{.*}}, %[[N]], %[[OTHER]]) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 4, 8, -9223372036854775808, 0>}>
// CHECK: "tts.store"(%{{.*}}, %[[A]]) <{static_mask_dims = array<i64: 4, 8, 0, 2>}>
// CHECK-NOT: tts.store
// CHECK: tt.return %[[EMPTY]], %{{.*}}, %[[B]], %[[C]]
tt.func @begins(%x: !tt.ptr<f32>, %other: f32, %n: index) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %m1 = arith.constant -1 : index
  %0 = "tts.load"(%p, %n, %m1, %other) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: 4, -9223372036854775808, 0, -9223372036854775808>}> : (tensor<4x8x!tt.ptr<f32>>, index, index, f32) -> tensor<4x8xf32>
  %1 = "tts.load"(%p, %n, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 4, -9223372036854775808, 0, 8>}> : (tensor<4x8x!tt.ptr<f32>>, index, f32) -> tensor<4x8xf32>
  %2 = "tts.load"(%p, %other) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 3, 8, 3, 0>}> : (tensor<4x8x!tt.ptr<f32>>, f32) -> tensor<4x8xf32>
  %3 = "tts.load"(%p, %other) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 4, 9, 0, 0>}> : (tensor<4x8x!tt.ptr<f32>>, f32) -> tensor<4x8xf32>
  %4 = "tts.load"(%p, %n, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 4, 8, -9223372036854775808, 0>}> : (tensor<4x8x!tt.ptr<f32>>, index, f32) -> tensor<4x8xf32>
  "tts.store"(%p, %0) <{static_mask_dims = array<i64: 4, 8, 0, 2>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  "tts.store"(%p, %0) <{static_mask_dims = array<i64: 4, 8, 5, 0>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  tt.return %1, %2, %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
