// RUN: triton-linalg-opt %s -convert-triton-to-linalg -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @e4m3
// CHECK-SAME: (%[[A:[^:]*]]: tensor<32x64xf8E4M3FN>, %[[AS:[^:]*]]: tensor<32x2xi8>, %[[B:[^:]*]]: tensor<64x32xf8E5M2>, %[[BS:[^:]*]]: tensor<32x2xi8>, %[[C:[^:]*]]: tensor<32x32xf32>)
// CHECK-DAG: %[[AV:.*]] = arith.extf %[[A]] : tensor<32x64xf8E4M3FN> to tensor<32x64xf32>
// CHECK-DAG: %[[BV:.*]] = arith.extf %[[B]] : tensor<64x32xf8E5M2> to tensor<64x32xf32>
// CHECK: %[[E:.*]] = arith.extui %[[AS]] : tensor<32x2xi8> to tensor<32x2xi32>
// CHECK: %[[SH:.*]] = arith.shli %[[E]], %{{.*}} : tensor<32x2xi32>
// CHECK: %[[S0:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SH]] : tensor<32x2xi1>, tensor<32x2xi32>
// CHECK: %[[S1:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S0]] : tensor<32x2xi1>, tensor<32x2xi32>
// CHECK: %[[S:.*]] = arith.bitcast %[[S1]] : tensor<32x2xi32> to tensor<32x2xf32>
// CHECK: %[[REP:.*]] = linalg.broadcast ins(%[[S]] : tensor<32x2xf32>) outs(%{{.*}} : tensor<32x2x32xf32>) dimensions = [2]
// CHECK: %[[AF:.*]] = tensor.collapse_shape %[[REP]] {{\[}}[0], [1, 2]] : tensor<32x2x32xf32> into tensor<32x64xf32>
// CHECK: %[[L:.*]] = arith.mulf %[[AV]], %[[AF]] : tensor<32x64xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<32x64xf32>) outs(%{{.*}} : tensor<64x32xf32>) permutation = [1, 0]
// CHECK: %[[R:.*]] = arith.mulf %[[BV]], %[[T]] : tensor<64x32xf32>
// CHECK: linalg.matmul ins(%[[L]], %[[R]] : tensor<32x64xf32>, tensor<64x32xf32>) outs(%[[C]] : tensor<32x32xf32>)
tt.func @e4m3(%a: tensor<32x64xf8E4M3FN>, %as: tensor<32x2xi8>, %b: tensor<64x32xf8E5M2>, %bs: tensor<32x2xi8>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<32x64xf8E4M3FN>, tensor<32x2xi8> * tensor<64x32xf8E5M2>, tensor<32x2xi8> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}

// -----

// Each byte holds two numbers of four bits, along the inner dimension.
// CHECK-LABEL: func.func @e2m1
// CHECK-SAME: (%[[A:[^:]*]]: tensor<32x32xi8>
// CHECK: %[[LOW:.*]] = arith.andi %[[A]], %{{.*}} : tensor<32x32xi8>
// CHECK: %[[HIGH:.*]] = arith.shrui %[[A]], %{{.*}} : tensor<32x32xi8>
// CHECK: %[[HALF:.*]] = tensor.insert_slice %[[LOW]] into %{{.*}}[0, 0] [32, 32] [1, 2] : tensor<32x32xi8> into tensor<32x64xi8>
// CHECK: %[[N:.*]] = tensor.insert_slice %[[HIGH]] into %[[HALF]][0, 1] [32, 32] [1, 2] : tensor<32x32xi8> into tensor<32x64xi8>
// CHECK: arith.extui %[[N]] : tensor<32x64xi8> to tensor<32x64xi32>
// CHECK: arith.bitcast %{{.*}} : tensor<32x64xi32> to tensor<32x64xf32>
// CHECK: arith.extf %{{.*}} : tensor<64x32xbf16> to tensor<64x32xf32>
// CHECK: linalg.matmul
tt.func @e2m1(%a: tensor<32x32xi8>, %as: tensor<32x2xi8>, %b: tensor<64x32xbf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x32xbf16> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}
