// RUN: triton-linalg-opt %s -convert-triton-to-linalg -cse -split-input-file | FileCheck %s

// The reductions of tl.argmax, and of tl.max with indices.
// CHECK-LABEL: func.func @argmax_left
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x8xf32>, %[[J:[^:]*]]: tensor<4x8xi32>)
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[LAST:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[V:.*]] = linalg.fill ins(%[[LEAST]] : f32) outs(%{{.*}} : tensor<4xf32>)
// CHECK-DAG: %[[I:.*]] = linalg.fill ins(%[[LAST]] : i32) outs(%{{.*}} : tensor<4xi32>)
// CHECK: %[[R:.*]]:2 = linalg_ext.argmax dimension = 1 tie_break_left(true) ins(%[[X]], %[[J]] : tensor<4x8xf32>, tensor<4x8xi32>) outs(%[[V]], %[[I]] : tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>, tensor<4xi32>
// CHECK: return %[[R]]#0, %[[R]]#1
tt.func @argmax_left(%x: tensor<4x8xf32>, %j: tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = "tt.reduce"(%x, %j) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    %1 = arith.cmpf oeq, %a, %c : f32
    %2 = arith.cmpi slt, %b, %d : i32
    %3 = arith.andi %1, %2 : i1
    %4 = arith.cmpf ogt, %a, %c : f32
    %5 = arith.ori %4, %3 : i1
    %6 = arith.select %5, %a, %c : f32
    %7 = arith.select %5, %b, %d : i32
    tt.reduce.return %6, %7 : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  tt.return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// Results are scalars, values are integers, and the index of equal values may be any of theirs.
// CHECK-LABEL: func.func @argmin_fast
// CHECK-DAG: arith.constant 32767 : i16
// CHECK: %[[R:.*]]:2 = linalg_ext.argmin dimension = 0 tie_break_left(false) ins(%{{.*}}, %{{.*}} : tensor<8xi16>, tensor<8xi32>) outs(%{{.*}}, %{{.*}} : tensor<i16>, tensor<i32>) -> tensor<i16>, tensor<i32>
// CHECK: tensor.extract %[[R]]#0[] : tensor<i16>
// CHECK: tensor.extract %[[R]]#1[] : tensor<i32>
tt.func @argmin_fast(%x: tensor<8xi16>, %j: tensor<8xi32>) -> (i16, i32) {
  %0:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a: i16, %b: i32, %c: i16, %d: i32):
    %1 = arith.cmpi slt, %a, %c : i16
    %2 = arith.select %1, %a, %c : i16
    %3 = arith.select %1, %b, %d : i32
    tt.reduce.return %2, %3 : i16, i32
  }) : (tensor<8xi16>, tensor<8xi32>) -> (i16, i32)
  tt.return %0#0, %0#1 : i16, i32
}

// -----

// A float format without infinity.
// CHECK-LABEL: func.func @argmax_f8
// CHECK-DAG: arith.constant -4.480000e+02 : f8E4M3FN
// CHECK: linalg_ext.argmax
tt.func @argmax_f8(%x: tensor<8xf8E4M3FN>, %j: tensor<8xi32>) -> (f8E4M3FN, i32) {
  %0:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a: f8E4M3FN, %b: i32, %c: f8E4M3FN, %d: i32):
    %1 = arith.cmpf ogt, %a, %c : f8E4M3FN
    %2 = arith.select %1, %a, %c : f8E4M3FN
    %3 = arith.select %1, %b, %d : i32
    tt.reduce.return %2, %3 : f8E4M3FN, i32
  }) : (tensor<8xf8E4M3FN>, tensor<8xi32>) -> (f8E4M3FN, i32)
  tt.return %0#0, %0#1 : f8E4M3FN, i32
}

// -----

// Comparisons of unsigned integers, and the last index of equal values, cannot be expressed by argmax.
// CHECK-LABEL: func.func @negative_others
// CHECK-NOT: linalg_ext.arg
// CHECK: linalg.reduce
// CHECK-NOT: linalg_ext.arg
// CHECK: linalg.reduce
// CHECK-NOT: linalg_ext.arg
// CHECK: linalg.reduce
// CHECK-NOT: linalg_ext.arg
tt.func @negative_others(%x: tensor<8xi16>, %j: tensor<8xi32>) -> (i16, i32, i16, i32, i16, i32) {
  %0:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a: i16, %b: i32, %c: i16, %d: i32):
    %1 = arith.cmpi ugt, %a, %c : i16
    %2 = arith.select %1, %a, %c : i16
    %3 = arith.select %1, %b, %d : i32
    tt.reduce.return %2, %3 : i16, i32
  }) : (tensor<8xi16>, tensor<8xi32>) -> (i16, i32)
  %4:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a: i16, %b: i32, %c: i16, %d: i32):
    %5 = arith.cmpi eq, %a, %c : i16
    %6 = arith.cmpi sgt, %b, %d : i32
    %7 = arith.andi %5, %6 : i1
    %8 = arith.cmpi sgt, %a, %c : i16
    %9 = arith.ori %8, %7 : i1
    %10 = arith.select %9, %a, %c : i16
    %11 = arith.select %9, %b, %d : i32
    tt.reduce.return %10, %11 : i16, i32
  }) : (tensor<8xi16>, tensor<8xi32>) -> (i16, i32)
  %12:2 = "tt.reduce"(%x, %j) <{axis = 0 : i32}> ({
  ^bb0(%a: i16, %b: i32, %c: i16, %d: i32):
    %13 = arith.cmpi sgt, %a, %c : i16
    %14 = arith.select %13, %a, %c : i16
    %15 = arith.select %13, %d, %b : i32
    tt.reduce.return %14, %15 : i16, i32
  }) : (tensor<8xi16>, tensor<8xi32>) -> (i16, i32)
  tt.return %0#0, %0#1, %4#0, %4#1, %12#0, %12#1 : i16, i32, i16, i32, i16, i32
}
