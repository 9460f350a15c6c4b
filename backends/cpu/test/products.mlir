// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64" -canonicalize -cse | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=32" -canonicalize -cse | FileCheck %s --check-prefix=AVX2

// The left operand is copied as it is. The right one is copied to panels of the columns of a vector: a panel has 64 * 16
// elements, one vector for each k. A product reads four vectors of four panels, 4,096 bytes apart, and four elements of
// the left operand, so 16 sums stay in registers over all of K.
// CHECK-LABEL: llvm.func internal @product.program(%arg0: !llvm.ptr, %arg1: !llvm.ptr
// CHECK: scf.for %[[ROW:.*]] = %c0_i64 to %c32_i64 step %c1_i64
// CHECK: scf.for %{{.*}} = %c0_i64 to %c64_i64 step %c16_i64
// CHECK: llvm.load %{{.*}} -> vector<16xf32>
// CHECK: %[[AT:.*]] = llvm.getelementptr %arg9[%{{.*}}]
// CHECK: llvm.store %{{.*}}, %[[AT]]
// CHECK: %[[PANELS:.*]] = llvm.getelementptr %arg9[8192]
// CHECK: scf.for %[[K:.*]] = %c0_i64 to %c64_i64 step %c1_i64
// CHECK: scf.for %[[N:.*]] = %c0_i64 to %c64_i64 step %c16_i64
// CHECK: %[[V:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK: %[[PANEL:.*]] = arith.shrui %[[N]], %c4_i64
// CHECK: %[[COLUMN:.*]] = arith.andi %[[N]], %c15_i64
// CHECK: %[[IN:.*]] = arith.muli %[[K]], %c16_i64
// CHECK: %[[IN2:.*]] = arith.addi %[[IN]], %[[COLUMN]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[PANEL]], %c1024_i64
// CHECK: %[[INDEX:.*]] = arith.addi %[[BEFORE]], %[[IN2]]
// CHECK: %[[BYTE:.*]] = arith.muli %[[INDEX]], %c4_i64
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[PANELS]][%[[BYTE]]]
// CHECK: llvm.store %[[V]], %[[AT]]
// CHECK: scf.for %{{.*}} = %c0_i64 to %c32_i64 step %c4_i64
// CHECK: scf.for %[[K:.*]] = %c0_i64 to %c64_i64 step %c1_i64 iter_args
// CHECK: %[[FIRST:.*]] = arith.muli %[[K]], %c64_i64
// CHECK: llvm.getelementptr %[[PANELS]][%[[FIRST]]]
// CHECK: arith.addi %[[FIRST]], %c4096_i64
// CHECK: arith.addi %[[FIRST]], %c8192_i64
// CHECK: arith.addi %[[FIRST]], %c12288_i64
// CHECK-COUNT-16: llvm.intr.fma{{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.intr.fma
// CHECK: scf.yield
// CHECK-COUNT-16: llvm.store %{{.*}} : vector<16xf32>
// CHECK: llvm.return

// With 16 registers, 8 sums.
// AVX2-LABEL: llvm.func internal @product.program
// AVX2: scf.for %{{.*}} = %c0_i64 to %c64_i64 step %c1_i64 iter_args
// AVX2-COUNT-8: llvm.intr.fma{{.*}} -> vector<8xf32>
// AVX2-NOT: llvm.intr.fma
// AVX2: scf.yield
tt.func public @product(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %mc = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %kc = tt.expand_dims %n {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %nr = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s1 = arith.constant dense<64> : tensor<32x1xi32>
  %s2 = arith.constant dense<64> : tensor<64x1xi32>
  %ao1 = arith.muli %mc, %s1 : tensor<32x1xi32>
  %bo1 = arith.muli %kc, %s2 : tensor<64x1xi32>
  %ao2 = tt.broadcast %ao1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %bo2 = tt.broadcast %bo1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %n32 = tt.broadcast %nr : tensor<1x64xi32> -> tensor<32x64xi32>
  %n64 = tt.broadcast %nr : tensor<1x64xi32> -> tensor<64x64xi32>
  %ao = arith.addi %ao2, %n32 : tensor<32x64xi32>
  %bo = arith.addi %bo2, %n64 : tensor<64x64xi32>
  %ap = tt.splat %a : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
  %bp = tt.splat %b : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %cp = tt.splat %c : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
  %aa = tt.addptr %ap, %ao : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
  %ba = tt.addptr %bp, %bo : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %ca = tt.addptr %cp, %ao : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
  %av = tt.load %aa : tensor<32x64x!tt.ptr<f32>>
  %bv = tt.load %ba : tensor<64x64x!tt.ptr<f32>>
  %d = tt.dot %av, %bv, %zero, inputPrecision = ieee : tensor<32x64xf32> * tensor<64x64xf32> -> tensor<32x64xf32>
  tt.store %ca, %d : tensor<32x64x!tt.ptr<f32>>
  tt.return
}
