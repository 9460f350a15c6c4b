// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-fuse-multiply-add | FileCheck %s
// RUN: triton-ext-opt %s --load-extension=cpu -triton-ext-cpu-fuse-multiply-add="lowered=true" | FileCheck %s --check-prefix=LOWERED

// CHECK-LABEL: llvm.func @sum
// CHECK: %[[R:.*]] = math.fma %arg0, %arg1, %arg2 : vector<8xf32>
// CHECK-NEXT: llvm.return %[[R]]
// LOWERED-LABEL: llvm.func @sum
// LOWERED: %[[R:.*]] = llvm.intr.fma(%arg0, %arg1, %arg2)
// LOWERED-NEXT: llvm.return %[[R]]
llvm.func @sum(%x: vector<8xf32>, %y: vector<8xf32>, %z: vector<8xf32>) -> vector<8xf32> {
  %p = arith.mulf %x, %y : vector<8xf32>
  %r = arith.addf %z, %p : vector<8xf32>
  llvm.return %r : vector<8xf32>
}

// CHECK-LABEL: llvm.func @product_minus
// CHECK: %[[Z:.*]] = arith.negf %arg2
// CHECK: math.fma %arg0, %arg1, %[[Z]] : f64
llvm.func @product_minus(%x: f64, %y: f64, %z: f64) -> f64 {
  %p = arith.mulf %x, %y : f64
  %r = arith.subf %p, %z : f64
  llvm.return %r : f64
}

// CHECK-LABEL: llvm.func @minus_product
// CHECK: %[[X:.*]] = arith.negf %arg0
// CHECK: math.fma %[[X]], %arg1, %arg2 : f32
llvm.func @minus_product(%x: f32, %y: f32, %z: f32) -> f32 {
  %p = arith.mulf %x, %y : f32
  %r = arith.subf %z, %p : f32
  llvm.return %r : f32
}

// Of two products, the first one is fused.
// CHECK-LABEL: llvm.func @two_products
// CHECK: %[[Q:.*]] = arith.mulf %arg2, %arg2
// CHECK: math.fma %arg0, %arg1, %[[Q]] : f32
llvm.func @two_products(%x: f32, %y: f32, %z: f32) -> f32 {
  %p = arith.mulf %x, %y : f32
  %q = arith.mulf %z, %z : f32
  %r = arith.addf %p, %q : f32
  llvm.return %r : f32
}

// A product that is used elsewhere is computed again, unless the functions of MathFunctions may have made it.
// CHECK-LABEL: llvm.func @used_twice
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[R:.*]] = math.fma
// CHECK: arith.divf %[[R]], %[[P]]
// LOWERED-LABEL: llvm.func @used_twice
// LOWERED-NOT: fma
// LOWERED: llvm.return
llvm.func @used_twice(%x: f32, %y: f32, %z: f32) -> f32 {
  %p = arith.mulf %x, %y : f32
  %r = arith.addf %p, %z : f32
  %s = arith.divf %r, %p : f32
  llvm.return %s : f32
}

// __fadd_rn promises that its sum is rounded by itself. bf16 and f16 are rounded after each operation.
// CHECK-LABEL: llvm.func @not_fused
// CHECK-NOT: fma
// CHECK: llvm.return
llvm.func @not_fused(%x: f32, %y: f32, %h: bf16) -> bf16 {
  %p = arith.mulf %x, %y : f32
  %r = arith.addf %p, %x : f32
  %s = llvm.call_intrinsic "llvm.arithmetic.fence"(%r) : (f32) -> f32
  %t = arith.truncf %s : f32 to bf16
  %q = arith.mulf %t, %h : bf16
  %u = arith.addf %q, %h : bf16
  llvm.return %u : bf16
}
