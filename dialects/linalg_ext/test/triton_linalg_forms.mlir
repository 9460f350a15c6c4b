// RUN: triton-ext-opt %s --load-extension=linalg_ext -split-input-file -o %t.once
// RUN: triton-ext-opt %t.once --load-extension=linalg_ext -split-input-file -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: FileCheck %s < %t.once

// triton-linalg's order of clauses and its bodies are parsed, and printed in our form; our form stays as it is.

// CHECK-LABEL: func.func @reductions
// CHECK-NEXT: linalg_ext.reduce_sum dimensions = [1] ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: linalg_ext.reduce_max dimensions = [0, 1] ins(%{{.*}} : tensor<4x8xi32>) outs(%{{.*}} : tensor<i32>) {mine} -> tensor<i32>
// CHECK-NEXT: linalg_ext.reduce_min dimensions = [0] ins(%{{.*}} : memref<4x8xf32>) outs(%{{.*}} : memref<8xf32>) {first, second = 2 : i64}
// CHECK-NEXT: linalg_ext.reduce_max_nan dimensions = [1] ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: linalg_ext.reduce_min_nan dimensions = [1] ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: linalg_ext.reduce_sum dimensions = [1] ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return
func.func @reductions(%t: tensor<4x8xf32>, %o: tensor<4xf32>, %i: tensor<4x8xi32>, %j: tensor<i32>,
                      %m: memref<4x8xf32>, %n: memref<8xf32>) {
  %0 = linalg_ext.reduce_sum ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
      (%x: f32, %acc: f32) {
        %s = arith.addf %acc, %x fastmath<reassoc> : f32
        linalg.yield %s : f32
      }
  %1 = linalg_ext.reduce_max ins(%i : tensor<4x8xi32>) outs(%j : tensor<i32>) dimensions = [0, 1] {mine}
      (%x: i32, %acc: i32) {
        %s = arith.maxsi %x, %acc : i32
        linalg.yield %s : i32
      }
  linalg_ext.reduce_min {first, second = 2} ins(%m : memref<4x8xf32>) outs(%n : memref<8xf32>) dimensions = [0]
      (%x: f32, %acc: f32) {
        %s = arith.minnumf %x, %acc : f32
        linalg.yield %s : f32
      }
  %2 = linalg_ext.reduce_max_nan { arith.maximumf } ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  %3 = linalg_ext.reduce_min_nan { arith.minimumf {fastmath = #arith.fastmath<nsz>} }
      ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  %4 = linalg_ext.reduce_sum dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A body can express more than tie_break_left, so it stays.
// CHECK-LABEL: func.func @args
// CHECK-NEXT: %{{.*}}:2 = linalg_ext.argmax dimension = 0 ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xi32>) outs(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xi32>) {mine} (%[[X:.*]]: f32, %[[J:.*]]: i32, %[[V:.*]]: f32, %[[I:.*]]: i32) {
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[X]], %[[V]] : f32
// CHECK-NEXT: %[[A:.*]] = arith.select %[[C]], %[[X]], %[[V]] : f32
// CHECK-NEXT: %[[B:.*]] = arith.select %[[C]], %[[J]], %[[I]] : i32
// CHECK-NEXT: linalg.yield %[[A]], %[[B]] : f32, i32
// CHECK-NEXT: } -> tensor<8xf32>, tensor<8xi32>
// CHECK-NEXT: linalg_ext.argmin dimension = 0 ins(%{{.*}}, %{{.*}} : memref<?xi16>, memref<?xi64>) outs(%{{.*}}, %{{.*}} : memref<i16>, memref<i64>) (%{{.*}}: i16, %{{.*}}: i64, %{{.*}}: i16, %{{.*}}: i64) {
// CHECK: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: linalg_ext.argmin dimension = 0 tie_break_left(true) ins(
// CHECK-NEXT: return
func.func @args(%x: tensor<4x8xf32>, %j: tensor<4x8xi32>, %o: tensor<8xf32>, %p: tensor<8xi32>,
                %a: memref<?xi16>, %b: memref<?xi64>, %c: memref<i16>, %d: memref<i64>) {
  %0:2 = linalg_ext.argmax ins(%x, %j : tensor<4x8xf32>, tensor<4x8xi32>) outs(%o, %p : tensor<8xf32>, tensor<8xi32>)
      dimensions = [0] {mine} (%in: f32, %at: i32, %best: f32, %where: i32) {
        %1 = arith.cmpf ogt, %in, %best : f32
        %2 = arith.select %1, %in, %best : f32
        %3 = arith.select %1, %at, %where : i32
        linalg.yield %2, %3 : f32, i32
      }
  linalg_ext.argmin ins(%a, %b : memref<?xi16>, memref<?xi64>) outs(%c, %d : memref<i16>, memref<i64>) dimensions = [0]
      (%in: i16, %at: i64, %best: i16, %where: i64) {
        linalg.yield %in, %where : i16, i64
      }
  linalg_ext.argmin ins(%a, %b : memref<?xi16>, memref<?xi64>) outs(%c, %d : memref<i16>, memref<i64>)
      dimension = 0 tie_break_left(true)
  return
}

// -----

// CHECK-LABEL: func.func @scans
// CHECK-NEXT: %{{.*}}:2 = linalg_ext.scan dimension = 1 reverse(true) ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4xf32>) attributes {mine} {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32, %[[C:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[C]], %[[X]] : f32
// CHECK-NEXT: linalg_ext.yield %[[S]], %[[S]] : f32, f32
// CHECK-NEXT: } -> tensor<4x8xf32>, tensor<4xf32>
// CHECK-NEXT: linalg_ext.scan dimension = 0 reverse(false) ins(%{{.*}} : memref<8xi32>) outs(%{{.*}}, %{{.*}} : memref<8xi32>, memref<i32>) {
// CHECK: }
// CHECK-NEXT: linalg_ext.scan dimension = 0 reverse(false) ins(%{{.*}} : memref<8xi32>) outs(%{{.*}} : memref<8xi32>) {
func.func @scans(%t: tensor<4x8xf32>, %o: tensor<4x8xf32>, %first: tensor<4xf32>, %m: memref<8xi32>, %s: memref<i32>) {
  %0:2 = linalg_ext.scan {mine} ins(%t : tensor<4x8xf32>) outs(%o, %first : tensor<4x8xf32>, tensor<4xf32>)
      dimensions = [1] reverse = true inclusive = true {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    %1 = arith.addf %carried, %in : f32
    linalg_ext.yield %1, %1 : f32, f32
  } -> tensor<4x8xf32>, tensor<4xf32>
  linalg_ext.scan ins(%m : memref<8xi32>) outs(%m, %s : memref<8xi32>, memref<i32>) dimensions = [0] {
  ^bb0(%in: i32, %out: i32, %carried: i32):
    %1 = arith.addi %carried, %in : i32
    linalg_ext.yield %1, %1 : i32, i32
  } -> memref<8xi32>, memref<i32>
  linalg_ext.scan ins(%m : memref<8xi32>) outs(%m : memref<8xi32>) dimension = 0 reverse(false) {
  ^bb0(%acc: i32, %in: i32):
    %1 = arith.addi %acc, %in : i32
    linalg_ext.yield %1 : i32
  }
  return
}

// -----

// An exclusive scan yields what is carried.
// CHECK-LABEL: func.func @exclusive
// CHECK: linalg_ext.scan dimension = 1 reverse(false) ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32, %[[C:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[C]], %[[X]] : f32
// CHECK-NEXT: linalg_ext.yield %[[C]], %[[S]] : f32, f32
func.func @exclusive(%t: tensor<4x8xf32>, %o: tensor<4x8xf32>, %first: tensor<4xf32>) -> tensor<4x8xf32> {
  %0:2 = linalg_ext.scan ins(%t : tensor<4x8xf32>) outs(%o, %first : tensor<4x8xf32>, tensor<4xf32>) dimensions = [1] inclusive = false {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    %1 = arith.addf %carried, %in : f32
    linalg_ext.yield %1, %1 : f32, f32
  } -> tensor<4x8xf32>, tensor<4xf32>
  return %0#0 : tensor<4x8xf32>
}

// -----

// An array without dimensions is a line.
// CHECK-LABEL: func.func @points
// CHECK: linalg_ext.scan dimension = 0 reverse(false) ins(%{{.*}} : tensor<f32>) outs(%{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>)
// CHECK: linalg_ext.scan dimension = 0 reverse(true) ins(%{{.*}} : memref<i32>) outs(%{{.*}} : memref<i32>)
func.func @points(%t: tensor<f32>, %first: tensor<f32>, %m: memref<i32>) -> tensor<f32> {
  %0:2 = linalg_ext.scan ins(%t : tensor<f32>) outs(%t, %first : tensor<f32>, tensor<f32>) dimensions = [] {
  ^bb0(%in: f32, %out: f32, %carried: f32):
    %1 = arith.addf %carried, %in : f32
    linalg_ext.yield %1, %1 : f32, f32
  } -> tensor<f32>, tensor<f32>
  linalg_ext.scan ins(%m : memref<i32>) outs(%m : memref<i32>) dimension = 0 reverse(true) {
  ^bb0(%acc: i32, %in: i32):
    linalg_ext.yield %in : i32
  }
  return %0#0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @windows
// CHECK-NEXT: linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 1] dilations = [1, 1] ins(%{{.*}}, %{{.*}} : tensor<2x1x8x8x4xf16>, tensor<2x16x3x3x4xf16>) outs(%{{.*}} : tensor<2x1x6x6x16xf32>) -> tensor<2x1x6x6x16xf32>
// CHECK-NEXT: linalg_ext.im2col strides = [1, 1] dilations = [1, 1] ins(%{{.*}} : tensor<1x8x8x4xf32>) outs(%{{.*}} : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
// CHECK-NEXT: linalg_ext.im2col strides = [2, 3] dilations = [1, 1] ins(%{{.*}} : tensor<1x8x8x4xf32>) outs(%{{.*}} : tensor<1x3x2x3x3x4xf32>) {mine} -> tensor<1x3x2x3x3x4xf32>
// CHECK-NEXT: linalg_ext.pooling_nhwc_max_nan strides = [2, 2] dilations = [1, 1] ins(%{{.*}}, %{{.*}} : memref<1x8x8x4xf32>, memref<2x2xf32>) outs(%{{.*}} : memref<1x4x4x4xf32>)
// CHECK-NEXT: return
func.func @windows(%a: tensor<2x1x8x8x4xf16>, %f: tensor<2x16x3x3x4xf16>, %o: tensor<2x1x6x6x16xf32>,
                   %i: tensor<1x8x8x4xf32>, %c: tensor<1x6x6x3x3x4xf32>, %d: tensor<1x3x2x3x3x4xf32>,
                   %m: memref<1x8x8x4xf32>, %w: memref<2x2xf32>, %p: memref<1x4x4x4xf32>) {
  %0 = linalg_ext.batch_conv_2d_nhwc_fhwc ins(%a, %f : tensor<2x1x8x8x4xf16>, tensor<2x16x3x3x4xf16>)
      outs(%o : tensor<2x1x6x6x16xf32>) -> tensor<2x1x6x6x16xf32>
  %1 = linalg_ext.im2col ins(%i : tensor<1x8x8x4xf32>) outs(%c : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
  %2 = linalg_ext.im2col {strides = dense<[2, 3]> : tensor<2xi64>, mine} ins(%i : tensor<1x8x8x4xf32>)
      outs(%d : tensor<1x3x2x3x3x4xf32>) -> tensor<1x3x2x3x3x4xf32>
  linalg_ext.pooling_nhwc_max_nan {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%m, %w : memref<1x8x8x4xf32>, memref<2x2xf32>) outs(%p : memref<1x4x4x4xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @asserts
// CHECK-NEXT: linalg_ext.assert "x" ins(%{{.*}} : tensor<8xi32>) {mine} -> tensor<8xi32>
// CHECK-NEXT: linalg_ext.assert "y" ins(%{{.*}} : memref<8xi8>)
// CHECK-NEXT: linalg_ext.assert "z" ins(%{{.*}} : tensor<8xi32>)
// CHECK-NEXT: return
func.func @asserts(%t: tensor<8xi32>, %m: memref<8xi8>) {
  %0 = linalg_ext.assert {msg = "x", mine} ins(%t : tensor<8xi32>) -> tensor<8xi32>
  linalg_ext.assert {msg = "y"} ins(%m : memref<8xi8>)
  linalg_ext.assert "z" ins(%t : tensor<8xi32>)
  return
}

// -----

// CHECK-LABEL: func.func @atomics
// CHECK-NEXT: %{{.*}}:2 = linalg_ext.atomic_rmw assign release ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>) {scope = "gpu"} -> tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: linalg_ext.atomic_rmw addf release ins(%{{.*}} : memref<8xf32>) outs(%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>)
// CHECK-NEXT: linalg_ext.atomic_cas relaxed ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) outs(%{{.*}} : tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: linalg_ext.atomic_cas acquire ins(%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>) outs(%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>)
// CHECK-NEXT: return
func.func @atomics(%v: tensor<8xf32>, %m: memref<8xf32>, %i: tensor<8xi32>) {
  %0:2 = linalg_ext.atomic_rmw xchg release {scope = "gpu"} ins(%v : tensor<8xf32>)
      outs(%v, %v : tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>, tensor<8xf32>
  linalg_ext.atomic_rmw addf release ins(%m : memref<8xf32>) outs(%m, %m : memref<8xf32>, memref<8xf32>)
      -> memref<8xf32>, memref<8xf32>
  %1 = linalg_ext.atomic_cas relaxed ins(%i, %i, %i : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
      outs(%i : tensor<8xi32>) -> tensor<8xi32>
  linalg_ext.atomic_cas acquire ins(%m, %m, %m : memref<8xf32>, memref<8xf32>, memref<8xf32>) outs(%m : memref<8xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @gathered_atomics
// CHECK-NEXT: linalg_ext.gather_atomic_rmw maxs relaxed ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<4x1xi32>, memref<4x1xi32>, memref<4xi8>) outs(%{{.*}}, %{{.*}} : memref<?xi32>, memref<4x1xi32>)
// CHECK-NEXT: %{{.*}}:2 = linalg_ext.gather_atomic_rmw addi relaxed ins(%{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xi64>) outs(%{{.*}}, %{{.*}} : tensor<?xi32>, tensor<4xi32>) -> tensor<?xi32>, tensor<4xi32>
// CHECK-NEXT: linalg_ext.gather_atomic_cas release ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi64>) outs(%{{.*}} : tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: linalg_ext.gather_atomic_cas release ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<4x1xi32>, memref<4x1xi32>, memref<4x1xi32>) outs(%{{.*}}, %{{.*}} : memref<?xi32>, memref<4x1xi32>)
// CHECK-NEXT: return
func.func @gathered_atomics(%m: memref<4x1xi32>, %mask: memref<4xi8>, %mem: memref<?xi32>,
                            %v: tensor<4xi32>, %i: tensor<4xi64>, %t: tensor<?xi32>) {
  linalg_ext.gather_atomic_rmw maxs relaxed ins(%m, %m, %mask : memref<4x1xi32>, memref<4x1xi32>, memref<4xi8>)
      outs(%mem, %m : memref<?xi32>, memref<4x1xi32>)
  %0:2 = linalg_ext.gather_atomic_rmw addi relaxed ins(%v, %i : tensor<4xi32>, tensor<4xi64>)
      outs(%t, %v : tensor<?xi32>, tensor<4xi32>) -> tensor<?xi32>, tensor<4xi32>
  %1 = linalg_ext.gather_atomic_cas release ins(%t, %v, %v, %i : tensor<?xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi64>)
      outs(%v : tensor<4xi32>) -> tensor<4xi32>
  linalg_ext.gather_atomic_cas release ins(%mem, %m, %m, %m : memref<?xi32>, memref<4x1xi32>, memref<4x1xi32>, memref<4x1xi32>)
      outs(%m : memref<4x1xi32>)
  return
}

// -----

// A body that yields its only argument, of type index, and an empty body both become one that yields the elements.
// CHECK-LABEL: func.func @pads
// CHECK-COUNT-2: ^bb0(%[[A:.*]]: f32):
// CHECK-NEXT: linalg_ext.yield %[[A]] : f32
// CHECK: return
func.func @pads(%t: tensor<4xf32>, %o: tensor<6xf32>, %z: f32) {
  %0 = linalg_ext.pad ins(%t : tensor<4xf32>) outs(%o : tensor<6xf32>) pvalue(%z : f32) low = [1] high = [1] {
  ^bb0(%i: index):
    linalg_ext.yield %i : index
  } -> tensor<6xf32>
  %1 = linalg_ext.pad {mine} ins(%t : tensor<4xf32>) outs(%o : tensor<6xf32>) pvalue(%z : f32) low = [1] high = [1] {
  } -> tensor<6xf32>
  return
}

// -----

// triton-linalg writes attributes first; those that are not attributes here are dropped.
// CHECK-LABEL: func.func @attributes
// CHECK-NEXT: linalg_ext.make_range ins(%{{.*}}, %{{.*}} : i32, i32) outs(%{{.*}} : tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: linalg_ext.make_range ins(%{{.*}}, %{{.*}} : i32, i32) outs(%{{.*}} : tensor<8xi32>) {mine} -> tensor<8xi32>
// CHECK-NEXT: linalg_ext.gather dimension_map = [0] ranged_data(false) signed_indice(true) ins(%{{.*}}, %{{.*}} : tensor<8xi32>, tensor<8x1xi32>) outs(%{{.*}} : tensor<8x1xi32>) attributes {mine} {
// CHECK: linalg_ext.histogram ins(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<8xi32>) {mine} -> tensor<8xi32>
// CHECK-NEXT: linalg_ext.libdevice_call ins(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<8xi32>) symbol = "f" {mine} -> tensor<8xi32>
// CHECK-NEXT: linalg_ext.scalar_libdevice_call ins(%{{.*}} : i32) symbol = "f" {mine} -> i32
func.func @attributes(%a: i32, %t: tensor<8xi32>, %w: tensor<8x1xi32>) {
  %0 = linalg_ext.make_range {operandSegmentSizes = array<i32: 2, 1>} ins(%a, %a : i32, i32) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %1 = linalg_ext.make_range {mine} ins(%a, %a : i32, i32) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %2 = linalg_ext.gather {mine} dimension_map = [0] ranged_data(false) signed_indice(true)
      ins(%t, %w : tensor<8xi32>, tensor<8x1xi32>) outs(%w : tensor<8x1xi32>) {
  ^bb0(%x: i32, %y: i32):
    linalg_ext.yield %x : i32
  } -> tensor<8x1xi32>
  %3 = linalg_ext.histogram {mine} ins(%t : tensor<8xi32>) outs(%t : tensor<8xi32>) -> tensor<8xi32>
  %4 = linalg_ext.libdevice_call {mine} ins(%t : tensor<8xi32>) outs(%t : tensor<8xi32>) symbol = "f" -> tensor<8xi32>
  %5 = linalg_ext.scalar_libdevice_call {mine} ins(%a : i32) symbol = "f" -> i32
  return
}
