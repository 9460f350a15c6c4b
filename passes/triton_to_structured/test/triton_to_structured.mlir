// RUN: triton-ext-opt %s -triton-ext-triton-to-structured -canonicalize -cse -split-input-file | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-triton-to-structured="atomics=false" -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=NO

// CHECK-LABEL: tt.func @contiguous
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[Y:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[O:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[P:.*]] = tts.make_tptr %[[X]] to sizes: [128], strides: [1], offsets: [%[[O]]], shape: [0], order: []
// CHECK: %[[V:.*]] = "tts.load"(%[[P]], %[[E:.*]], %[[ZERO]]) <{operandSegmentSizes = array<i32: 1, 1, 1>
// CHECK: %[[Q:.*]] = tts.make_tptr %[[Y]] to sizes: [128], strides: [1], offsets: [%[[O]]], shape: [0], order: []
// CHECK: "tts.store"(%[[Q]], %[[V]], %[[E]])
// CHECK-NOT: tensor<128xi
tt.func @contiguous(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c128 = arith.constant 128 : i32
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c128 : i32
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %s = tt.splat %start : i32 -> tensor<128xi32>
  %offsets = arith.addi %s, %range : tensor<128xi32>
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %offsets, %ns : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %px = tt.addptr %xs, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %px, %mask, %zeros : tensor<128x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %py = tt.addptr %ys, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %py, %v, %mask : tensor<128x!tt.ptr<f32>>
  tt.return
}

// -----

// A transposed tile, whose row stride is known when the kernel runs. The elements are read as integers.
// CHECK-LABEL: tt.func @tile
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[S:.*]]: i32)
// CHECK-DAG: %[[B:.*]] = tt.bitcast %[[X]] : !tt.ptr<f32> -> !tt.ptr<i32>
// CHECK-DAG: %[[I:.*]] = arith.index_cast %[[S]] : i32 to index
// CHECK: %[[P:.*]] = tts.make_tptr %[[B]] to sizes: [8, 4], strides: [1, %[[I]]], offsets: [0, 0], shape: [0, 0], order: [] : <i32> to tensor<8x4x!tt.ptr<i32>>
// CHECK: "tts.load"(%[[P]]) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64: 8, 3>}>
tt.func @tile(%x: !tt.ptr<f32>, %stride: i32) -> tensor<8x4xi32> {
  %three = arith.constant dense<3> : tensor<4x1xi32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %j = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %s = tt.splat %stride : i32 -> tensor<4x1xi32>
  %scaled = arith.muli %rows, %s : tensor<4x1xi32>
  %below = arith.cmpi slt, %rows, %three : tensor<4x1xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
  %first = tt.addptr %base, %scaled : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
  %firsts = tt.broadcast %first : tensor<4x1x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
  %steps = tt.broadcast %columns : tensor<1x8xi32> -> tensor<4x8xi32>
  %p = tt.addptr %firsts, %steps : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
  %m = tt.broadcast %below : tensor<4x1xi1> -> tensor<4x8xi1>
  %pt = tt.trans %p {order = array<i32: 1, 0>} : tensor<4x8x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
  %mt = tt.trans %m {order = array<i32: 1, 0>} : tensor<4x8xi1> -> tensor<8x4xi1>
  %cast = tt.bitcast %pt : tensor<8x4x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<i32>>
  %v = tt.load %cast, %mt : tensor<8x4x!tt.ptr<i32>>
  tt.return %v : tensor<8x4xi32>
}

// -----

// CHECK-LABEL: tt.func @atomics
// CHECK: %[[P:.*]] = tts.make_tptr
// CHECK: tts.atomic_rmw fadd, acq_rel, gpu, %[[P]], %{{.*}} {static_mask_dims = array<i64: 5>}
// CHECK: tts.atomic_cas relaxed, sys, %[[P]], %{{.*}}, %{{.*}} :
// NO-LABEL: tt.func @atomics
// NO: tt.atomic_rmw
// NO: tt.atomic_cas
tt.func @atomics(%x: !tt.ptr<f32>, %v: tensor<8xf32>) {
  %five = arith.constant dense<5> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %m = arith.cmpi slt, %i, %five : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %base, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %1 = tt.atomic_cas relaxed, sys, %p, %v, %v : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

// What stays: offsets that are loaded, a box that begins at 3, a default of several numbers, a volatile load, a store to
// one address, a scalar.
// CHECK-LABEL: tt.func @stays
// CHECK-NOT: tts.
// CHECK-COUNT-4: tt.load
// CHECK-COUNT-2: tt.store
// CHECK-NOT: tts.
tt.func @stays(%x: !tt.ptr<i32>, %offsets: tensor<8xi32>, %v: i32)
    -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %three = arith.constant dense<3> : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %base = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %any = tt.addptr %base, %offsets : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %p = tt.addptr %base, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %behind = arith.cmpi sge, %i, %three : tensor<8xi32>
  %before = arith.cmpi slt, %i, %three : tensor<8xi32>
  %0 = tt.load %any : tensor<8x!tt.ptr<i32>>
  %1 = tt.load %p, %behind, %zero : tensor<8x!tt.ptr<i32>>
  %2 = tt.load %p, %before, %offsets : tensor<8x!tt.ptr<i32>>
  %3 = tt.load %p {isVolatile = true} : tensor<8x!tt.ptr<i32>>
  tt.store %base, %offsets : tensor<8x!tt.ptr<i32>>
  tt.store %x, %v : !tt.ptr<i32>
  tt.return %0, %1, %2, %3 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}
