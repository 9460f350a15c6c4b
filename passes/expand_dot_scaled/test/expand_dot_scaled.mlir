// RUN: triton-ext-opt %s -triton-ext-expand-dot-scaled -canonicalize | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-expand-dot-scaled="narrow=true" -canonicalize | FileCheck %s --check-prefix=NARROW

// CHECK-LABEL: tt.func @e4m3
// CHECK-SAME: (%[[A:[^:]*]]: tensor<32x64xf8E4M3FN>, %[[AS:[^:]*]]: tensor<32x2xi8>, %[[B:[^:]*]]: tensor<64x32xf8E5M2>, %[[BS:[^:]*]]: tensor<32x2xi8>, %[[C:[^:]*]]: tensor<32x32xf32>)
// CHECK: %[[AV:.*]] = tt.fp_to_fp %[[A]] : tensor<32x64xf8E4M3FN> -> tensor<32x64xf32>
// CHECK: %[[E:.*]] = arith.extui %[[AS]] : tensor<32x2xi8> to tensor<32x2xi32>
// CHECK: %[[SH:.*]] = arith.shli %[[E]], %{{.*}} : tensor<32x2xi32>
// CHECK: %[[S0:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SH]] : tensor<32x2xi1>, tensor<32x2xi32>
// CHECK: %[[S1:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S0]] : tensor<32x2xi1>, tensor<32x2xi32>
// CHECK: %[[S:.*]] = arith.bitcast %[[S1]] : tensor<32x2xi32> to tensor<32x2xf32>
// CHECK: %[[X:.*]] = tt.expand_dims %[[S]] {axis = 2 : i32} : tensor<32x2xf32> -> tensor<32x2x1xf32>
// CHECK: %[[REP:.*]] = tt.broadcast %[[X]] : tensor<32x2x1xf32> -> tensor<32x2x32xf32>
// CHECK: %[[AF:.*]] = tt.reshape %[[REP]] : tensor<32x2x32xf32> -> tensor<32x64xf32>
// CHECK: %[[L:.*]] = arith.mulf %[[AV]], %[[AF]] : tensor<32x64xf32>
// CHECK: %[[BV:.*]] = tt.fp_to_fp %[[B]] : tensor<64x32xf8E5M2> -> tensor<64x32xf32>
// CHECK: %[[BT:.*]] = tt.trans %[[BS]] {order = array<i32: 1, 0>} : tensor<32x2xi8> -> tensor<2x32xi8>
// CHECK: arith.extui %[[BT]] : tensor<2x32xi8> to tensor<2x32xi32>
// CHECK: %[[BX:.*]] = tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<2x32xf32> -> tensor<2x1x32xf32>
// CHECK: %[[BREP:.*]] = tt.broadcast %[[BX]] : tensor<2x1x32xf32> -> tensor<2x32x32xf32>
// CHECK: %[[BF:.*]] = tt.reshape %[[BREP]] : tensor<2x32x32xf32> -> tensor<64x32xf32>
// CHECK: %[[R:.*]] = arith.mulf %[[BV]], %[[BF]] : tensor<64x32xf32>
// CHECK: %[[D:.*]] = tt.dot %[[L]], %[[R]], %[[C]] : tensor<32x64xf32> * tensor<64x32xf32> -> tensor<32x32xf32>
// CHECK: tt.return %[[D]]
// NARROW-LABEL: tt.func @e4m3
// NARROW: tt.dot {{.*}} : tensor<32x64xbf16> * tensor<64x32xbf16> -> tensor<32x32xf32>
tt.func @e4m3(%a: tensor<32x64xf8E4M3FN>, %as: tensor<32x2xi8>, %b: tensor<64x32xf8E5M2>, %bs: tensor<32x2xi8>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<32x64xf8E4M3FN>, tensor<32x2xi8> * tensor<64x32xf8E5M2>, tensor<32x2xi8> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}

// A byte holds two elements of four bits, here along K. bf16 needs no scale.
// CHECK-LABEL: tt.func @e2m1
// CHECK-SAME: (%[[A:[^:]*]]: tensor<32x32xi8>
// CHECK: %[[HIGH:.*]] = arith.shrui %[[A]], %{{.*}} : tensor<32x32xi8>
// CHECK: %[[PAIRS:.*]] = tt.join %[[A]], %[[HIGH]] : tensor<32x32xi8> -> tensor<32x32x2xi8>
// CHECK: %[[N:.*]] = tt.reshape %[[PAIRS]] : tensor<32x32x2xi8> -> tensor<32x64xi8>
// CHECK: arith.extui %[[N]] : tensor<32x64xi8> to tensor<32x64xi32>
// CHECK: tt.dot {{.*}} : tensor<32x64xf32> * tensor<64x32xf32> -> tensor<32x32xf32>
// NARROW-LABEL: tt.func @e2m1
// NARROW-SAME: %[[B:[^:]*]]: tensor<64x32xbf16>
// NARROW: tt.dot %{{.*}}, %[[B]], %{{.*}} : tensor<32x64xbf16> * tensor<64x32xbf16> -> tensor<32x32xf32>
tt.func @e2m1(%a: tensor<32x32xi8>, %as: tensor<32x2xi8>, %b: tensor<64x32xbf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<32x32xi8>, tensor<32x2xi8> * tensor<64x32xbf16> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}

// Along the rows, and in batches. The sum is f32, also where the result is not.
// CHECK-LABEL: tt.func @along_rows
// CHECK: %[[PAIRS:.*]] = tt.join
// CHECK: %[[T:.*]] = tt.trans %[[PAIRS]] {order = array<i32: 0, 1, 3, 2>} : tensor<4x16x64x2xi8> -> tensor<4x16x2x64xi8>
// CHECK: tt.reshape %[[T]] : tensor<4x16x2x64xi8> -> tensor<4x32x64xi8>
// CHECK: %[[C:.*]] = arith.extf %{{.*}} : tensor<4x32x32xbf16> to tensor<4x32x32xf32>
// CHECK: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[C]]
// CHECK: arith.truncf %[[D]] : tensor<4x32x32xf32> to tensor<4x32x32xbf16>
tt.func @along_rows(%a: tensor<4x16x64xi8>, %as: tensor<4x32x2xi8>, %b: tensor<4x64x32xbf16>, %c: tensor<4x32x32xbf16>) -> tensor<4x32x32xbf16> {
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false, lhs_k_pack = false} : tensor<4x16x64xi8>, tensor<4x32x2xi8> * tensor<4x64x32xbf16> -> tensor<4x32x32xbf16>
  tt.return %0 : tensor<4x32x32xbf16>
}

// Scales of e4m3 have 4 bits: with those of a bf16 they are too many for bf16,
// with those of another e4m3 they are not.
// NARROW-LABEL: tt.func @many_bits
// NARROW: tt.dot {{.*}} : tensor<32x64xf32>
tt.func @many_bits(%a: tensor<32x64xbf16>, %as: tensor<32x4xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = bf16 rhs = e5m2 {fastMath = false} : tensor<32x64xbf16>, tensor<32x4xf8E4M3FN> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}
// NARROW-LABEL: tt.func @few_bits
// NARROW: tt.dot {{.*}} : tensor<32x64xbf16>
tt.func @few_bits(%a: tensor<32x64xf8E4M3FN>, %as: tensor<32x4xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<32x64xf8E4M3FN>, tensor<32x4xf8E4M3FN> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}
// NARROW-LABEL: tt.func @half
// NARROW: tt.dot {{.*}} : tensor<32x64xf32>
tt.func @half(%a: tensor<32x64xf16>, %as: tensor<32x2xi8>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = fp16 rhs = e5m2 {fastMath = false} : tensor<32x64xf16>, tensor<32x2xi8> * tensor<64x32xf8E5M2> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}

// CHECK-LABEL: tt.func @six_bits
// CHECK: tt.dot_scaled
tt.func @six_bits(%a: tensor<32x64xi8>, %as: tensor<32x2xi8>, %b: tensor<64x32xi8>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = e2m3 rhs = e3m2 {fastMath = false} : tensor<32x64xi8>, tensor<32x2xi8> * tensor<64x32xi8> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}
