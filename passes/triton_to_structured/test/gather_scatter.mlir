// RUN: triton-ext-opt %s -triton-ext-triton-to-structured -canonicalize -cse -split-input-file | FileCheck %s

// Rows at loaded indices. The columns are strided and have a bound.
// CHECK-LABEL: tt.func @rows
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %{{.*}}: !tt.ptr<i32>, %[[S:.*]]: i32, %[[N:.*]]: i32, %[[O:.*]]: i32)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[AT:.*]] = "tts.load"
// CHECK-DAG: %[[OI:.*]] = arith.index_cast %[[O]] : i32 to index
// CHECK-DAG: %[[SI:.*]] = arith.index_cast %[[S]] : i32 to index
// CHECK: %[[P:.*]] = tts.make_gather_scatter_tptr %[[X]] to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %[[AT]], strides: [%[[SI]], 1], offsets: [0, %[[OI]]] : tensor<8xi32>
// CHECK: "tts.load"(%[[P]], %{{.*}}, %[[ZERO]]) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 8, -9223372036854775808>}>
tt.func @rows(%x: !tt.ptr<f32>, %idx: !tt.ptr<i32>, %s: i32, %n: i32, %o: i32) -> tensor<8x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<8x16xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %is = tt.splat %idx : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ip = tt.addptr %is, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %at = tt.load %ip : tensor<8x!tt.ptr<i32>>
  %rows = tt.expand_dims %at {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ss = tt.splat %s : i32 -> tensor<8x1xi32>
  %scaled = arith.muli %rows, %ss : tensor<8x1xi32>
  %r = tt.broadcast %scaled : tensor<8x1xi32> -> tensor<8x16xi32>
  %c = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
  %rc = arith.addi %r, %c : tensor<8x16xi32>
  %os = tt.splat %o : i32 -> tensor<8x16xi32>
  %sum = arith.addi %rc, %os : tensor<8x16xi32>
  %ns = tt.splat %n : i32 -> tensor<1x16xi32>
  %below = arith.cmpi slt, %columns, %ns : tensor<1x16xi32>
  %mask = tt.broadcast %below : tensor<1x16xi1> -> tensor<8x16xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p, %mask, %zeros : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}

// -----

// Two offsets along one dimension are added as i64: the remainder of a sum, and a loaded index.
// CHECK-LABEL: tt.func @two_offsets
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32>, %[[AT:.*]]: tensor<8xi32>, %[[M:.*]]: i32)
// CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[AT]] : tensor<8xi32> to tensor<8xi64>
// CHECK-DAG: %[[REM:.*]] = arith.remsi %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK-DAG: %[[REST:.*]] = arith.extsi %[[REM]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[SUM:.*]] = arith.addi %[[WIDE]], %[[REST]] : tensor<8xi64>
// CHECK: tts.make_gather_scatter_tptr %{{.*}} to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %[[SUM]], strides: [1, 1], offsets: [0, 0] : tensor<8xi64>
tt.func @two_offsets(%x: !tt.ptr<f32>, %at: tensor<8xi32>, %m: i32) -> tensor<8x16xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %rest = arith.remsi %i, %ms : tensor<8xi32>
  %both = arith.addi %at, %rest : tensor<8xi32>
  %rows = tt.expand_dims %both {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %r = tt.broadcast %rows : tensor<8x1xi32> -> tensor<8x16xi32>
  %c = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
  %sum = arith.addi %r, %c : tensor<8x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}

// -----

// Rows of one stride that also have offsets of their own. The multiples of the stride become part of the offsets.
// CHECK-LABEL: tt.func @skewed
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[AT:.*]]: tensor<8xi32>, %[[S:.*]]: i32)
// CHECK-DAG: %[[I:.*]] = tt.make_range {end = 8 : i32, start = 0 : i32}
// CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[I]] : tensor<8xi32> to tensor<8xi64>
// CHECK-DAG: %[[MULTIPLES:.*]] = arith.muli %[[WIDE]], %[[STRIDE:.*]] : tensor<8xi64>
// CHECK-DAG: %[[STRIDE]] = tt.splat
// CHECK-DAG: %[[OWN:.*]] = arith.extsi %[[AT]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[SUM:.*]] = arith.addi %[[OWN]], %[[MULTIPLES]] : tensor<8xi64>
// CHECK: tts.make_gather_scatter_tptr %[[X]] to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %[[SUM]], strides: [1, 1], offsets: [0, 0] : tensor<8xi64>
tt.func @skewed(%x: !tt.ptr<f32>, %at: tensor<8xi32>, %s: i32) -> tensor<8x16xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ss = tt.splat %s : i32 -> tensor<8xi32>
  %is = arith.muli %i, %ss : tensor<8xi32>
  %both = arith.addi %at, %is : tensor<8xi32>
  %rows = tt.expand_dims %both {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %r = tt.broadcast %rows : tensor<8x1xi32> -> tensor<8x16xi32>
  %c = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
  %sum = arith.addi %r, %c : tensor<8x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}

// -----

// A product of two offsets has no stride.
// CHECK-LABEL: tt.func @square
// CHECK: %[[SQUARE:.*]] = arith.muli %[[I:.*]], %[[I]] : tensor<8xi32>
// CHECK: tts.make_gather_scatter_tptr %{{.*}} to sizes: [8, 8] gather_scatter_dim: 1 gather_scatter_offset: %[[SQUARE]], strides: [1, 1], offsets: [0, 0] : tensor<8xi32>
tt.func @square(%x: !tt.ptr<f32>) -> tensor<8x8xf32> {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %square = arith.muli %i, %i : tensor<8xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %square {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %r = tt.broadcast %rows : tensor<8x1xi32> -> tensor<8x8xi32>
  %c = tt.broadcast %columns : tensor<1x8xi32> -> tensor<8x8xi32>
  %sum = arith.addi %r, %c : tensor<8x8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %v = tt.load %p : tensor<8x8x!tt.ptr<f32>>
  tt.return %v : tensor<8x8xf32>
}

// -----

// Strided pointers whose mask has a low bound for the columns: it is the mask of the pointers, with the high bound of
// the columns. The bound of the rows stays a number.
// CHECK-LABEL: tt.func @low_bound
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[J:.*]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
// CHECK-DAG: %[[LOW:.*]] = arith.cmpi sge, %[[J]], %{{.*}} : tensor<16xi32>
// CHECK-DAG: %[[HIGH:.*]] = arith.cmpi slt, %[[J]], %{{.*}} : tensor<16xi32>
// CHECK: %[[MASK:.*]] = arith.andi %[[LOW]], %[[HIGH]] : tensor<16xi1>
// CHECK: %[[P:.*]] = tts.make_gather_scatter_tptr %{{.*}} to sizes: [8, 16] gather_scatter_dim: 1 gather_scatter_offset: %[[J]] gather_scatter_mask: %[[MASK]], strides: [100, 1], offsets: [0, 0]
// CHECK: "tts.load"(%[[P]], %{{.*}}, %[[ONE]]) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 0>}>
tt.func @low_bound(%x: !tt.ptr<f32>, %low: i32, %high: i32, %m: i32) -> tensor<8x16xf32> {
  %ones = arith.constant dense<1.0> : tensor<8x16xf32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %c100 = arith.constant dense<100> : tensor<8x1xi32>
  %scaled = arith.muli %rows, %c100 : tensor<8x1xi32>
  %r = tt.broadcast %scaled : tensor<8x1xi32> -> tensor<8x16xi32>
  %c = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
  %sum = arith.addi %r, %c : tensor<8x16xi32>
  %ms = tt.splat %m : i32 -> tensor<8x1xi32>
  %lows = tt.splat %low : i32 -> tensor<1x16xi32>
  %highs = tt.splat %high : i32 -> tensor<1x16xi32>
  %a = arith.cmpi slt, %rows, %ms : tensor<8x1xi32>
  %b = arith.cmpi sge, %columns, %lows : tensor<1x16xi32>
  %d = arith.cmpi slt, %columns, %highs : tensor<1x16xi32>
  %bd = arith.andi %b, %d : tensor<1x16xi1>
  %at = tt.broadcast %a : tensor<8x1xi1> -> tensor<8x16xi1>
  %bt = tt.broadcast %bd : tensor<1x16xi1> -> tensor<8x16xi1>
  %mask = arith.andi %at, %bt : tensor<8x16xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %sum : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p, %mask, %ones : tensor<8x16x!tt.ptr<f32>>
  tt.return %v : tensor<8x16xf32>
}

// -----

// Without a bound, the default belongs to the mask of the pointers.
// CHECK-LABEL: tt.func @sieve
// CHECK: %[[Z:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[P:.*]] = tts.make_gather_scatter_tptr %{{.*}} to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %{{.*}} gather_scatter_mask: %{{.*}}, strides: [16, 1], offsets: [0, 0]
// CHECK: "tts.load"(%[[P]], %[[Z]]) <{operandSegmentSizes = array<i32: 1, 0, 1>, static_mask_dims = array<i64>}>
// CHECK: "tts.store"(%[[P]], %{{.*}}) <{static_mask_dims = array<i64>}>
tt.func @sieve(%x: !tt.ptr<f32>, %keep: tensor<8xi1>) {
  %twos = arith.constant dense<2.0> : tensor<8x16xf32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %ij = tt.reshape %i : tensor<128xi32> -> tensor<8x16xi32>
  %kept = tt.expand_dims %keep {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %mask = tt.broadcast %kept : tensor<8x1xi1> -> tensor<8x16xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %ij : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p, %mask, %twos : tensor<8x16x!tt.ptr<f32>>
  tt.store %p, %v, %mask : tensor<8x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Offsets of any kind along both dimensions; offsets along one and a mask along the other; one dimension only; one
// element for all; offsets that mix both dimensions.
// CHECK-LABEL: tt.func @stays
// CHECK-NOT: tts.
tt.func @stays(%x: !tt.ptr<f32>, %low: i32, %only: tensor<1xi32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %square = arith.muli %i, %i : tensor<8xi32>
  %rows = tt.expand_dims %square {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %square {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %line = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %r = tt.broadcast %rows : tensor<8x1xi32> -> tensor<8x8xi32>
  %c = tt.broadcast %columns : tensor<1x8xi32> -> tensor<8x8xi32>
  %l = tt.broadcast %line : tensor<1x8xi32> -> tensor<8x8xi32>
  %rc = arith.addi %r, %c : tensor<8x8xi32>
  %rl = arith.addi %r, %l : tensor<8x8xi32>
  %lows = tt.splat %low : i32 -> tensor<8x8xi32>
  %mask = arith.cmpi sge, %l, %lows : tensor<8x8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %rc : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %v = tt.load %p : tensor<8x8x!tt.ptr<f32>>
  %q = tt.addptr %xs, %rl : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %w = tt.load %q, %mask : tensor<8x8x!tt.ptr<f32>>
  tt.store %p, %w : tensor<8x8x!tt.ptr<f32>>
  tt.store %q, %v, %mask : tensor<8x8x!tt.ptr<f32>>
  %xl = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pl = tt.addptr %xl, %square : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %vl = tt.load %pl : tensor<8x!tt.ptr<f32>>
  tt.store %pl, %vl : tensor<8x!tt.ptr<f32>>
  %ex = tt.expand_dims %only {axis = 0 : i32} : tensor<1xi32> -> tensor<1x1xi32>
  %all = tt.broadcast %ex : tensor<1x1xi32> -> tensor<8x8xi32>
  %down = tt.trans %l {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>
  %al = arith.addi %all, %down : tensor<8x8xi32>
  %pa = tt.addptr %xs, %al : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %va = tt.load %pa : tensor<8x8x!tt.ptr<f32>>
  tt.store %p, %va : tensor<8x8x!tt.ptr<f32>>
  %mixed = arith.xori %r, %l : tensor<8x8xi32>
  %px = tt.addptr %xs, %mixed : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %vx = tt.load %px : tensor<8x8x!tt.ptr<f32>>
  tt.store %p, %vx : tensor<8x8x!tt.ptr<f32>>
  tt.return
}
