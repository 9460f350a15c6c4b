// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64" -canonicalize -cse | FileCheck %s
// RUN: sed -e 's/tensor<4x/tensor<1024x/g' -e 's/end = 4 /end = 1024 /' %s | triton-ext-opt - --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64" -canonicalize -cse | FileCheck %s --check-prefix=LARGE
// RUN: sed -e 's/tensor<4x/tensor<512x/g' -e 's/end = 4 /end = 512 /' %s | triton-ext-opt - --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64" -canonicalize -cse | FileCheck %s --check-prefix=EDGE

// The right operand is packed. The left one is not: the loop over K loads from the rows of the argument, which are 4000 bytes
// apart.
// CHECK-LABEL: llvm.func internal @plain.program(
// CHECK-SAME: %[[A:arg[0-9]+]]: !llvm.ptr, %[[B:arg[0-9]+]]: !llvm.ptr
// CHECK: scf.for %{{.*}} to %{{.*}} step %c1_i32
// CHECK: llvm.getelementptr %[[B]]
// CHECK-NOT: llvm.getelementptr %[[A]]
// CHECK: %[[ROW1:.*]] = llvm.getelementptr %[[A]][4000]
// CHECK: scf.for %[[K:.*]] = %c0_i64 to %c64_i64
// CHECK: %[[OFFSET:.*]] = arith.muli %[[K]], %c4_i64
// CHECK: %[[AT0:.*]] = llvm.getelementptr %[[A]][%[[OFFSET]]]
// CHECK: llvm.load %[[AT0]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: %[[AT1:.*]] = llvm.getelementptr %[[ROW1]][%[[OFFSET]]]
// CHECK: llvm.load %[[AT1]] {alignment = 4 : i64} : !llvm.ptr -> f32

// So is a tile of 128 KB.
// EDGE-LABEL: llvm.func internal @plain.program(
// EDGE-SAME: %[[A:arg[0-9]+]]: !llvm.ptr,
// EDGE: %[[ROW:.*]] = llvm.getelementptr %[[A]][%{{.*}}]
// EDGE: scf.for %{{.*}} = %c0_i64 to %c64_i64
// EDGE: %[[AT:.*]] = llvm.getelementptr %[[ROW]][%{{.*}}]
// EDGE: llvm.load %[[AT]] {alignment = 4 : i64} : !llvm.ptr -> f32

// A tile of 256 KB is packed by vectors.
// LARGE-LABEL: llvm.func internal @plain.program(
// LARGE-SAME: %[[A:arg[0-9]+]]: !llvm.ptr,
// LARGE: %[[AT:.*]] = llvm.getelementptr %[[A]][%{{.*}}]
// LARGE-NEXT: llvm.load %[[AT]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// LARGE-NOT: llvm.getelementptr %[[A]]
// LARGE: llvm.return
tt.func public @plain(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %steps: i32) {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %n = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %mc = tt.expand_dims %m {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %nr = tt.expand_dims %n {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %kr = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %kc = tt.expand_dims %k {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %lda = arith.constant dense<1000> : tensor<4x1xi32>
  %ldb = arith.constant dense<16> : tensor<64x1xi32>
  %ldc = arith.constant dense<16> : tensor<4x1xi32>
  %am = arith.muli %mc, %lda : tensor<4x1xi32>
  %amb = tt.broadcast %am : tensor<4x1xi32> -> tensor<4x64xi32>
  %akb = tt.broadcast %kr : tensor<1x64xi32> -> tensor<4x64xi32>
  %bk = arith.muli %kc, %ldb : tensor<64x1xi32>
  %bkb = tt.broadcast %bk : tensor<64x1xi32> -> tensor<64x16xi32>
  %bnb = tt.broadcast %nr : tensor<1x16xi32> -> tensor<64x16xi32>
  %bat = arith.addi %bkb, %bnb : tensor<64x16xi32>
  %aat = arith.addi %amb, %akb : tensor<4x64xi32>
  %ap = tt.splat %a : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>
  %bp = tt.splat %b : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
  %cp = tt.splat %c : !tt.ptr<f32> -> tensor<4x16x!tt.ptr<f32>>
  %aa = tt.addptr %ap, %aat : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
  %ba = tt.addptr %bp, %bat : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
  %sum = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %zero) -> (tensor<4x16xf32>) : i32 {
    %x = tt.load %aa : tensor<4x64x!tt.ptr<f32>>
    %y = tt.load %ba : tensor<64x16x!tt.ptr<f32>>
    %next = tt.dot %x, %y, %old : tensor<4x64xf32> * tensor<64x16xf32> -> tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  %cm = arith.muli %mc, %ldc : tensor<4x1xi32>
  %cmb = tt.broadcast %cm : tensor<4x1xi32> -> tensor<4x16xi32>
  %cnb = tt.broadcast %nr : tensor<1x16xi32> -> tensor<4x16xi32>
  %cat = arith.addi %cmb, %cnb : tensor<4x16xi32>
  %ca = tt.addptr %cp, %cat : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
  tt.store %ca, %sum : tensor<4x16x!tt.ptr<f32>>
  tt.return
}
