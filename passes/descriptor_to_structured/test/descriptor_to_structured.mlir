// RUN: triton-ext-opt %s -split-input-file -triton-ext-descriptor-to-structured -canonicalize -cse | FileCheck %s

// The bounds exclude what lies after and before the tensor. NaN is the default.
// CHECK-LABEL: tt.func @block
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i64, %[[I:.*]]: i32, %[[J:.*]]: i32)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[STRIDE:.*]] = arith.index_cast %[[S]] : i64 to index
// CHECK-DAG: %[[ROW:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK-DAG: %[[COLUMN:.*]] = arith.index_cast %[[J]] : i32 to index
// CHECK-DAG: %[[ROWS:.*]] = arith.index_cast %[[M]] : i32 to index
// CHECK-DAG: %[[COLUMNS:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-DAG: %[[OFFSET:.*]] = arith.muli %[[ROW]], %[[STRIDE]] : index
// CHECK: %[[Q:.*]] = tts.make_tptr %[[P]] to sizes: [8, 16], strides: [%[[STRIDE]], 1], offsets: [%[[OFFSET]], %[[COLUMN]]], shape: [%[[ROWS]], %[[COLUMNS]]], order: [1, 0]
// CHECK-DAG: %[[E0:.*]] = arith.subi %[[ROWS]], %[[ROW]] : index
// CHECK-DAG: %[[B0:.*]] = arith.subi %[[C0]], %[[ROW]] : index
// CHECK-DAG: %[[E1:.*]] = arith.subi %[[COLUMNS]], %[[COLUMN]] : index
// CHECK-DAG: %[[B1:.*]] = arith.subi %[[C0]], %[[COLUMN]] : index
// CHECK: %[[V:.*]] = "tts.load"(%[[Q]], %[[E0]], %[[E1]], %[[B0]], %[[B1]], %[[NAN]]) <{cachePolicy = #tt.cache_policy<{{.*}}>, operandSegmentSizes = array<i32: 1, 4, 1>
// CHECK: "tts.store"(%[[Q]], %[[V]], %[[E0]], %[[E1]], %[[B0]], %[[B1]])
// CHECK-NOT: descriptor
tt.func @block(%p: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<8x16xf32>
  %v = tt.descriptor_load %d[%i, %j] {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
  tt.descriptor_store %d[%i, %j], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
  tt.return
}

// -----

// An index that is not negative needs no bound from below, and none at all if
// the block is known to lie inside.
// CHECK-LABEL: tt.func @not_negative
// CHECK: scf.for
// CHECK: "tts.load"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) <{operandSegmentSizes = array<i32: 1, 1, 1>
// CHECK-LABEL: tt.func @inside
// CHECK: "tts.load"(%{{[^,]*}}) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
tt.func @not_negative(%p: !tt.ptr<i16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n], [%c1] : !tt.ptr<i16>, !tt.tensordesc<16xsi16>
  scf.for %i = %c0 to %n step %c16 : i32 {
    %v = tt.descriptor_load %d[%i] : !tt.tensordesc<16xsi16> -> tensor<16xi16>
    tt.descriptor_store %d[%i], %v : !tt.tensordesc<16xsi16>, tensor<16xi16>
  }
  tt.return
}
tt.func @inside(%p: !tt.ptr<i16>) -> tensor<16xi16> {
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%c64], [%c1] : !tt.ptr<i16>, !tt.tensordesc<16xi16>
  %v = tt.descriptor_load %d[%c16] : !tt.tensordesc<16xi16> -> tensor<16xi16>
  tt.return %v : tensor<16xi16>
}

// -----

// A descriptor of the host becomes scalars. It says at run time how to pad and
// whether to round. The value has fewer dimensions than the block.
// CHECK-LABEL: tt.func @host
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %[[PADS:.*]]: i1, %[[ROUNDS:.*]]: i1, %{{.*}}: i32)
// CHECK: %[[OTHER:.*]] = arith.select %[[PADS]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[V:.*]] = "tts.load"({{.*}}, %[[OTHER]])
// CHECK: %[[R:.*]] = scf.if %[[ROUNDS]] -> (tensor<1x16xf32>)
// CHECK: arith.shrui
// CHECK: %[[LINE:.*]] = tt.reshape %[[R]] : tensor<1x16xf32> -> tensor<16xf32>
// CHECK: "tts.store"
tt.func @host(%d: !tt.tensordesc<1x16xf32>, %i: i32) {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<1x16xf32> -> tensor<16xf32>
  %w = arith.addf %v, %v : tensor<16xf32>
  tt.descriptor_store %d[%i, %i], %w : !tt.tensordesc<1x16xf32>, tensor<16xf32>
  tt.return
}

// -----

// Loops and branches carry the scalars of a descriptor.
// CHECK-LABEL: tt.func @carried
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (!tt.ptr<f32>, i64, i64, i1, i1, !tt.ptr<f32>, i64, i64, i1, i1)
// CHECK: tts.make_tptr
// CHECK-NOT: descriptor
// CHECK-NOT: unrealized_conversion_cast
tt.func @carried(%p: !tt.ptr<f32>, %d: !tt.tensordesc<16xf32>, %e: !tt.tensordesc<16xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = arith.constant dense<1.0> : tensor<16xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %d, %b = %e) -> (!tt.tensordesc<16xf32>, !tt.tensordesc<16xf32>) : i32 {
    tt.descriptor_store %a[%i], %v : !tt.tensordesc<16xf32>, tensor<16xf32>
    scf.yield %b, %a : !tt.tensordesc<16xf32>, !tt.tensordesc<16xf32>
  }
  tt.return
}

// -----

// Rows have a mask; the bounds are those of the columns.
// CHECK-LABEL: tt.func @rows
// CHECK-SAME: i64, %{{[a-z0-9]+}}: i64, %[[S0:[a-z0-9]+]]: i64, %[[S1:[a-z0-9]+]]: i64, {{.*}}%[[X:[a-z0-9]+]]: tensor<8xi16>, %{{.*}}: i32)
// CHECK: %[[FROM0:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : tensor<8xi64>
// CHECK: %[[TO:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<8xi64>
// CHECK: %[[MASK:.*]] = arith.andi %[[FROM0]], %[[TO]] : tensor<8xi1>
// CHECK: %[[ROWS:.*]] = arith.extsi %[[X]] : tensor<8xi16> to tensor<8xi32>
// CHECK-DAG: %[[STEP0:.*]] = arith.index_cast %[[S0]] : i64 to index
// CHECK-DAG: %[[STEP1:.*]] = arith.index_cast %[[S1]] : i64 to index
// CHECK: tts.make_gather_scatter_tptr %{{.*}} to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %[[ROWS]] gather_scatter_mask: %[[MASK]], strides: [%[[STEP0]], %[[STEP1]]], offsets: [0, %{{.*}}]
// CHECK: "tts.load"({{.*}}) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: 0, -9223372036854775808, 0, -9223372036854775808>}>
// CHECK: "tts.store"({{.*}}) <{static_mask_dims = array<i64: 0, -9223372036854775808, 0, -9223372036854775808>}>
tt.func @rows(%d: !tt.tensordesc<1x16xbf16>, %x: tensor<8xi16>, %y: i32) {
  %v = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x16xbf16>, tensor<8xi16>, i32) -> tensor<8x16xbf16>
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<1x16xbf16>, tensor<8xi16>, i32, tensor<8x16xbf16>
  tt.return
}

// -----

// An atomic keeps Triton's rewrite, and a cast of a descriptor that no access
// reads is left alone.
// CHECK-LABEL: tt.func @others
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : !tt.tensordesc<16xi32> to index
// CHECK: tt.atomic_rmw add
tt.func @others(%d: !tt.tensordesc<16xi32>, %i: i32, %v: tensor<16xi32>) -> index {
  %x = builtin.unrealized_conversion_cast %d : !tt.tensordesc<16xi32> to index
  tt.descriptor_reduce add, %d[%i], %v : !tt.tensordesc<16xi32>, tensor<16xi32>
  tt.return %x : index
}
