// RUN: triton-ext-opt %s -triton-ext-triton-to-structured -canonicalize -cse -split-input-file | FileCheck %s

// A tile of 16 that begins at a multiple of 16 does not cross a multiple of 64, so nothing wraps around in it. Only its
// beginning does.
// CHECK-LABEL: tt.func @constant
// CHECK: %[[O:.*]] = arith.remsi %{{.*}}, %c-64 : index
// CHECK: tts.make_tptr %{{.*}} to sizes: [16], strides: [-2], offsets: [%[[O]]], shape: [0], order: []
tt.func @constant(%x: !tt.ptr<f32>) -> tensor<16xf32> {
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant dense<32> : tensor<16xi32>
  %minus = arith.constant dense<-2> : tensor<16xi32>
  %p = tt.get_program_id x : i32
  %begin = arith.muli %p, %c16 : i32
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %b = tt.splat %begin : i32 -> tensor<16xi32>
  %at = arith.addi %b, %i : tensor<16xi32>
  %r = arith.remsi %at, %c32 : tensor<16xi32>
  %s = arith.muli %r, %minus : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.addptr %xs, %s : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %q : tensor<16x!tt.ptr<f32>>
  tt.return %v : tensor<16xf32>
}

// -----

// A choice between offsets that wrap around and others, none of which crosses 32: without a modulus, it is 0. Nothing is
// divided by 0.
// CHECK-LABEL: tt.func @choice
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[C:.*]]: i1)
// CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[AS_IS:.*]] = arith.select %[[C]], %c0, %[[AT]] : index
// CHECK: %[[START:.*]] = arith.select %[[C]], %[[AT]], %c0 : index
// CHECK: %[[M:.*]] = arith.select %[[C]], %c32, %c0 : index
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[M]], %c0 : index
// CHECK: %[[BY:.*]] = arith.select %[[NONE]], %c1, %[[M]] : index
// CHECK: %[[REM:.*]] = arith.remsi %[[START]], %[[BY]] : index
// CHECK: %[[WRAPPED:.*]] = arith.select %[[NONE]], %[[START]], %[[REM]] : index
// CHECK: %[[O:.*]] = arith.addi %[[AS_IS]], %[[WRAPPED]] : index
// CHECK: tts.make_tptr %[[X]] to sizes: [16], strides: [1], offsets: [%[[O]]], shape: [0], order: []
tt.func @choice(%x: !tt.ptr<f32>, %c: i1) -> tensor<16xf32> {
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant dense<32> : tensor<16xi32>
  %p = tt.get_program_id x : i32
  %begin = arith.muli %p, %c16 : i32
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %b = tt.splat %begin : i32 -> tensor<16xi32>
  %at = arith.addi %b, %i : tensor<16xi32>
  %r = arith.remsi %at, %c32 : tensor<16xi32>
  %s = arith.select %c, %r, %at : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.addptr %xs, %s : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %q : tensor<16x!tt.ptr<f32>>
  tt.return %v : tensor<16xf32>
}

// -----

// A tile of 16 that begins anywhere crosses the modulus.
// CHECK-LABEL: tt.func @anywhere
// CHECK: tts.make_tptr %{{.*}} to sizes: [16], strides: [1], offsets: [%{{.*}}], shape: [32], order: []
tt.func @anywhere(%x: !tt.ptr<f32>, %begin: i32) -> tensor<16xf32> {
  %c32 = arith.constant dense<32> : tensor<16xi32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %b = tt.splat %begin : i32 -> tensor<16xi32>
  %at = arith.addi %b, %i : tensor<16xi32>
  %r = arith.remsi %at, %c32 : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.addptr %xs, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %v = tt.load %q : tensor<16x!tt.ptr<f32>>
  tt.return %v : tensor<16xf32>
}
