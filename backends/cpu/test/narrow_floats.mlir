// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64 dot-units=16" -canonicalize -cse | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-lower-tiles="vector-bytes=64 has-fma=false" -canonicalize -cse | FileCheck %s --check-prefix=PLAIN

// An e4m3 is an f16 times 2^8. Its NaN becomes one of f16 before it is widened.
// CHECK-LABEL: llvm.func internal @widen.program
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant dense<2.560000e+02> : vector<8xf32>
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<-16512> : vector<8xi16>
// CHECK: %[[CODES:.*]] = llvm.load %{{.*}} -> vector<8xi8>
// CHECK: %[[SIGNED:.*]] = arith.extsi %[[CODES]] : vector<8xi8> to vector<8xi16>
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[SIGNED]], %{{.*}} : vector<8xi16>
// CHECK: %[[HALF:.*]] = arith.andi %[[SHIFTED]], %[[MASK]] : vector<8xi16>
// CHECK: %[[NAN:.*]] = arith.cmpi ugt, %{{.*}}, %{{.*}} : vector<8xi8>
// CHECK: %[[BITS:.*]] = arith.select %[[NAN]], %{{.*}}, %[[HALF]] : vector<8xi1>, vector<8xi16>
// CHECK: %[[NUMBER:.*]] = arith.bitcast %[[BITS]] : vector<8xi16> to vector<8xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[NUMBER]] : vector<8xf16> to vector<8xf32>
// CHECK: arith.mulf %[[WIDE]], %[[FACTOR]] : vector<8xf32>

// Without FMA there may be no instruction that converts f16.
// PLAIN-LABEL: llvm.func internal @widen.program
// PLAIN-NOT: arith.extf
tt.func public @widen(%x: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<16x!tt.ptr<f8E4M3FN>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<16x!tt.ptr<f8E4M3FN>>, tensor<16xi32>
  %yp = tt.addptr %ys, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %narrow = tt.load %xp : tensor<16x!tt.ptr<f8E4M3FN>>
  %wide = tt.fp_to_fp %narrow : tensor<16xf8E4M3FN> -> tensor<16xf32>
  tt.store %yp, %wide : tensor<16x!tt.ptr<f32>>
  tt.return
}

// An operand that is rounded to bf16 for the unit is rounded by one instruction while it is packed.
// CHECK-LABEL: llvm.func internal @product.program
// CHECK: %[[LOADED:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.512"(%[[LOADED]])
// CHECK-NEXT: %[[PACKED:.*]] = llvm.bitcast %[[ROUNDED]] : vector<16xbf16> to vector<16xi16>
// CHECK: llvm.store %[[PACKED]]
// CHECK: llvm.x86.avx512bf16.dpbf16ps.512

// PLAIN-LABEL: llvm.func internal @product.program
// PLAIN-NOT: avx512bf16
// PLAIN: arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
tt.func public @product(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %row = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %column = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %length = arith.constant dense<16> : tensor<16x1xi32>
  %start = arith.muli %row, %length : tensor<16x1xi32>
  %starts = tt.broadcast %start : tensor<16x1xi32> -> tensor<16x16xi32>
  %columns = tt.broadcast %column : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %starts, %columns : tensor<16x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %at : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %yp = tt.addptr %ys, %at : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
  %zp = tt.addptr %zs, %at : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %wide = tt.load %xp : tensor<16x16x!tt.ptr<f32>>
  %left = arith.truncf %wide : tensor<16x16xf32> to tensor<16x16xbf16>
  %right = tt.load %yp : tensor<16x16x!tt.ptr<bf16>>
  %d = tt.dot %left, %right, %zero, inputPrecision = ieee : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
  tt.store %zp, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
