// RUN: triton-ext-opt %s --load-extension=tts -triton-ext-lower-structured -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func @strided
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[S:.*]]: index, %[[N:.*]]: index)
// CHECK-DAG: %[[R:.*]] = tt.make_range {end = 8 : i32, start = 0 : i32}
// CHECK-DAG: %[[I:.*]] = arith.extsi %[[R]] : tensor<8xi32> to tensor<8xi64>
// CHECK-DAG: %[[C:.*]] = arith.index_cast %[[S]] : index to i64
// CHECK-DAG: %[[SS:.*]] = tt.splat %[[C]] : i64 -> tensor<8xi64>
// CHECK-DAG: %[[M:.*]] = arith.muli %[[I]], %[[SS]]
// CHECK-DAG: %[[O:.*]] = arith.addi %[[M]], %{{.*}} : tensor<8xi64>
// CHECK-DAG: %[[B:.*]] = tt.splat %[[X]]
// CHECK-DAG: %[[P:.*]] = tt.addptr %[[B]], %[[O]] : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
// CHECK: %[[K:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : tensor<8xi64>
// CHECK: %[[V:.*]] = tt.load %[[P]], %[[K]] : tensor<8x!tt.ptr<f32>>
// CHECK: tt.store %[[P]], %[[V]] : tensor<8x!tt.ptr<f32>>
tt.func @strided(%x: !tt.ptr<f32>, %s: index, %n: index) {
  %p = tts.make_tptr %x to sizes: [8], strides: [%s], offsets: [3], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %v = "tts.load"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<8x!tt.ptr<f32>>, index) -> tensor<8xf32>
  "tts.store"(%p, %v) <{static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> ()
  tt.return
}

// -----

// A bound of 4 of 4 elements is no mask. Each dimension wraps around by itself; a bound of 0 when the kernel runs is none.
// CHECK-LABEL: tt.func @wraps
// CHECK-SAME: %[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: index, %[[O:.*]]: f32)
// CHECK-DAG: %[[MOST:.*]] = arith.constant 9223372036854775807 : i64
// CHECK-DAG: %[[NINE:.*]] = arith.constant dense<9> : tensor<4xi64>
// CHECK: arith.remsi %{{.*}}, %[[NINE]] : tensor<4xi64>
// CHECK: %[[C:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[Z:.*]] = arith.cmpi eq, %[[C]]
// CHECK: %[[D:.*]] = arith.select %[[Z]], %[[MOST]], %[[C]]
// CHECK: %[[DS:.*]] = tt.splat %[[D]]
// CHECK: arith.remsi %{{.*}}, %[[DS]] : tensor<8xi64>
// CHECK: %[[L:.*]] = tt.expand_dims %{{.*}} {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
// CHECK: %[[M:.*]] = tt.broadcast %[[L]] : tensor<1x8xi1> -> tensor<4x8xi1>
// CHECK: %[[OS:.*]] = tt.splat %[[O]]
// CHECK: tt.load %{{.*}}, %[[M]], %[[OS]] : tensor<4x8x!tt.ptr<f32>>
tt.func @wraps(%x: !tt.ptr<f32>, %n: index, %other: f32) -> tensor<4x8xf32> {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [3, 1], offsets: [5, 6], shape: [9, %n], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %v = "tts.load"(%p, %other) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64: 4, 5>}> : (tensor<4x8x!tt.ptr<f32>>, f32) -> tensor<4x8xf32>
  tt.return %v : tensor<4x8xf32>
}

// -----

// With an order, the shape is not a modulus.
// CHECK-LABEL: tt.func @block
// CHECK-NOT: arith.remsi
// CHECK: tt.return
tt.func @block(%x: !tt.ptr<f32>) -> tensor<4x8x!tt.ptr<f32>> {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [3, 1], offsets: [5, 6], shape: [9, 9], order: [1, 0] : <f32> to tensor<4x8x!tt.ptr<f32>>
  tt.return %p : tensor<4x8x!tt.ptr<f32>>
}

// -----

// The mask of the pointers stands in for the bound of dimension 1.
// CHECK-LABEL: tt.func @rows
// CHECK-SAME: %[[I:[a-z0-9]*]]: tensor<8xi32>, %[[M:[a-z0-9]*]]: tensor<8xi1>
// CHECK: %[[W:.*]] = arith.extsi %[[I]] : tensor<8xi32> to tensor<8xi64>
// CHECK: arith.muli %[[W]], %{{.*}} : tensor<8xi64>
// CHECK: %[[E:.*]] = tt.expand_dims %[[M]] {axis = 0 : i32}
// CHECK: %[[B:.*]] = tt.broadcast %[[E]] : tensor<1x8xi1> -> tensor<4x8xi1>
// CHECK: %[[L:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<4xi64>
// CHECK: %[[A:.*]] = arith.andi %[[B]], %{{.*}} : tensor<4x8xi1>
// CHECK: tt.store %{{.*}}, %{{.*}}, %[[A]]
tt.func @rows(%x: !tt.ptr<f32>, %i: tensor<8xi32>, %m: tensor<8xi1>, %v: tensor<4x8xf32>) {
  %p = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 1 gather_scatter_offset: %i gather_scatter_mask: %m, strides: [1, 16], offsets: [2, 0] : tensor<8xi32> tensor<8xi1> <f32> to tensor<4x8x!tt.ptr<f32>>
  "tts.store"(%p, %v) <{static_mask_dims = array<i64: 3, 0>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  tt.return
}

// -----

// CHECK-LABEL: tt.func @unstructured
// CHECK-SAME: %[[X:[a-z0-9]*]]: !tt.ptr<i32>, %[[I:[a-z0-9]*]]: tensor<8xi32>, %[[M:[a-z0-9]*]]: tensor<8xi1>, %[[J:[a-z0-9]*]]: i64, %[[V:[a-z0-9]*]]: i32
// CHECK: %[[XS:.*]] = tt.splat %[[X]]
// CHECK: %[[P:.*]] = tt.addptr %[[XS]], %[[I]] : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
// CHECK: %[[O:.*]] = tt.splat %[[V]]
// CHECK: %[[A:.*]] = tt.load %[[P]], %[[M]], %[[O]] : tensor<8x!tt.ptr<i32>>
// CHECK: tt.store %[[P]], %[[A]], %[[M]] : tensor<8x!tt.ptr<i32>>
// CHECK: %[[Q:.*]] = tt.addptr %[[X]], %[[J]] : !tt.ptr<i32>, i64
// CHECK: %[[B:.*]] = tt.load %[[Q]] : !tt.ptr<i32>
// CHECK: tt.store %[[Q]], %[[B]] : !tt.ptr<i32>
// CHECK: tt.atomic_rmw add, relaxed, gpu, %[[P]], %[[I]], %[[M]]
// CHECK: tt.atomic_cas acq_rel, sys, %[[Q]], %[[V]], %[[V]]
tt.func @unstructured(%x: !tt.ptr<i32>, %i: tensor<8xi32>, %m: tensor<8xi1>, %j: i64, %v: i32) {
  %a = tts.gather %x[%i] mask = %m default = %v : (<i32>, tensor<8xi32>) -> tensor<8xi32>
  tts.scatter %a into %x[%i] mask = %m : tensor<8xi32> into (<i32>, tensor<8xi32>)
  %b = tts.gather %x[%j] : (<i32>, i64) -> i32
  tts.scatter %b into %x[%j] : i32 into (<i32>, i64)
  %c = tts.atomic_rmw add, relaxed, gpu, %i into %x[%i] mask = %m : tensor<8xi32> into (<i32>, tensor<8xi32>) -> tensor<8xi32>
  %d = tts.atomic_cas acq_rel, sys, %v, %v into %x[%j] : i32, i32 into (<i32>, i64) -> i32
  tt.return
}

// -----

// CHECK-LABEL: tt.func @atomics
// CHECK: %[[P:.*]] = tt.addptr
// CHECK: %[[M:.*]] = arith.cmpi slt
// CHECK: tt.atomic_rmw fadd, acq_rel, cta, %[[P]], %{{.*}}, %[[M]]
// CHECK: tt.atomic_cas relaxed, gpu, %[[P]], %{{.*}}, %{{.*}}
tt.func @atomics(%x: !tt.ptr<f32>, %n: index, %v: tensor<8xf32>) {
  %p = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [%n], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %0 = tts.atomic_rmw fadd, acq_rel, cta, %p, %v, %n {static_mask_dims = array<i64: -9223372036854775808>} : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, index) -> tensor<8xf32>
  %1 = tts.atomic_cas relaxed, gpu, %p, %v, %v : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

// Indices that are computed become i64, as far as the arithmetic is known; no operation on them is left.
// CHECK-LABEL: tt.func @indices
// CHECK-SAME: (%[[X:[a-z0-9]*]]: !tt.ptr<f32>, %[[A:[a-z0-9]*]]: i32, %[[B:[a-z0-9]*]]: i64, %[[N:[a-z0-9]*]]: index, %[[C:[a-z0-9]*]]: i1)
// CHECK: %[[I:.*]] = arith.extsi %[[A]] : i32 to i64
// CHECK: %[[S:.*]] = arith.subi %[[I]], %[[B]] : i64
// CHECK: %[[K:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[M:.*]] = arith.minsi %[[S]], %[[K]] : i64
// CHECK: %[[O:.*]] = arith.select %[[C]], %[[M]], %[[B]] : i64
// CHECK: tt.splat %[[O]] : i64 -> tensor<8xi64>
// CHECK-NOT: : index
tt.func @indices(%x: !tt.ptr<f32>, %a: i32, %b: i64, %n: index, %c: i1) -> tensor<8x!tt.ptr<f32>> {
  %i = arith.index_cast %a : i32 to index
  %j = arith.index_cast %b : i64 to index
  %0 = arith.subi %i, %j : index
  %1 = arith.minsi %0, %n : index
  %2 = arith.select %c, %1, %j : index
  %p = tts.make_tptr %x to sizes: [8], strides: [1], offsets: [%2], shape: [0], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  tt.return %p : tensor<8x!tt.ptr<f32>>
}

// -----

// A bound from below is a second comparison, except one of 0.
// CHECK-LABEL: tt.func @begins
// CHECK-SAME: %[[N:[a-z0-9]*]]: index
// CHECK: %[[E:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<8xi64>
// CHECK: %[[B:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : tensor<8xi64>
// CHECK-NOT: arith.cmpi
// CHECK: tt.store
tt.func @begins(%x: !tt.ptr<f32>, %n: index, %v: tensor<4x8xf32>) {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  "tts.store"(%p, %v, %n, %n) <{static_mask_dims = array<i64: 4, -9223372036854775808, 0, -9223372036854775808>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index, index) -> ()
  tt.return
}
