// RUN: triton-ext-opt %s -triton-ext-scalarize-induction -canonicalize | FileCheck %s

// Arguments of the loop advance two tensors, and are replaced twice.
// CHECK-LABEL: tt.func @by_arguments
// CHECK-SAME: (%[[P0:.*]]: tensor<8x!tt.ptr<f32>>, %[[O0:.*]]: tensor<8xi32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[K:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}) -> (i32, i64, i32)
// CHECK-DAG: %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK-DAG: %[[P1:.*]] = arith.addi %[[P]], %[[I64]] : i64
// CHECK-DAG: %[[O1:.*]] = arith.addi %[[O]], %[[K]] : i32
// CHECK: scf.yield %{{.*}}, %[[P1]], %[[O1]] : i32, i64, i32
tt.func @by_arguments(%p0: tensor<8x!tt.ptr<f32>>, %o0: tensor<8xi32>, %n: i32, %k0: i32) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %o = %o0, %k = %k0) -> (tensor<8x!tt.ptr<f32>>, tensor<8xi32>, i32) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    %is = tt.splat %i : i32 -> tensor<8xi32>
    %p1 = tt.addptr %p, %is : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %ks = tt.splat %k : i32 -> tensor<8xi32>
    %o1 = arith.addi %o, %ks : tensor<8xi32>
    %k1 = arith.muli %k, %k : i32
    scf.yield %p1, %o1, %k1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>, i32
  }
  tt.return %r#1 : tensor<8xi32>
}

// `tt.splat` takes neither index nor 128 bits, so tensors of these stay as they are.
// CHECK-LABEL: tt.func @of_other_types
// CHECK: scf.for {{.*}} -> (tensor<4xindex>, tensor<4xi128>)
tt.func @of_other_types(%n: i32) -> (tensor<4xindex>, tensor<4xi128>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = arith.constant dense<3> : tensor<4xindex>
  %two = arith.constant dense<2> : tensor<4xindex>
  %wide = arith.constant dense<5> : tensor<4xi128>
  %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first, %w = %wide) -> (tensor<4xindex>, tensor<4xi128>) : i32 {
    %next = arith.addi %t, %two : tensor<4xindex>
    %wider = arith.addi %w, %wide : tensor<4xi128>
    scf.yield %next, %wider : tensor<4xindex>, tensor<4xi128>
  }
  tt.return %end#0, %end#1 : tensor<4xindex>, tensor<4xi128>
}
