// RUN: triton-ext-opt %s -triton-ext-triton-ptr-to-memref | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-triton-ptr-to-memref="public-only" | FileCheck %s --check-prefix=PUBLIC

// CHECK-LABEL: tt.func public @kernel
// CHECK-SAME: (%[[M:.*]]: memref<*xf32> {tt.divisibility = 16 : i32}, %[[N:.*]]: i32, %[[T:.*]]: tensor<4x!tt.ptr<f32>>)
// CHECK: %[[X:.*]] = builtin.unrealized_conversion_cast %[[M]] : memref<*xf32> to !tt.ptr<f32>
// CHECK: %[[P:.*]] = tt.addptr %[[X]], %[[N]]
// CHECK: %[[IN:.*]] = builtin.unrealized_conversion_cast %[[P]] : !tt.ptr<f32> to memref<*xf32>
// CHECK: %[[R:.*]] = tt.call @later(%[[IN]], %[[N]]) : (memref<*xf32>, i32) -> memref<*xf32>
// CHECK: %[[OUT:.*]] = builtin.unrealized_conversion_cast %[[R]] : memref<*xf32> to !tt.ptr<f32>
// CHECK: tt.load %[[OUT]]
// PUBLIC-LABEL: tt.func public @kernel
// PUBLIC-SAME: memref<*xf32>
// PUBLIC: tt.call @later(%{{.*}}, %{{.*}}) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %t: tensor<4x!tt.ptr<f32>>) {
  %p = tt.addptr %x, %n : !tt.ptr<f32>, i32
  %r = tt.call @later(%p, %n) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  %v = tt.load %r : !tt.ptr<f32>
  tt.store %x, %v : !tt.ptr<f32>
  tt.return
}

// Each block returns a memref.
// CHECK-LABEL: tt.func private @later
// CHECK-SAME: (%{{.*}}: memref<*xf32>, %{{.*}}: i32) -> memref<*xf32>
// CHECK-COUNT-2: tt.return %{{.*}} : memref<*xf32>
// PUBLIC-LABEL: tt.func private @later
// PUBLIC-SAME: (%{{.*}}: !tt.ptr<f32>, %{{.*}}: i32) -> !tt.ptr<f32>
// PUBLIC-NOT: unrealized
tt.func private @later(%p: !tt.ptr<f32>, %n: i32) -> !tt.ptr<f32> attributes {noinline = true} {
  %c = arith.cmpi eq, %n, %n : i32
  cf.cond_br %c, ^a, ^b
^a:
  tt.return %p : !tt.ptr<f32>
^b:
  %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
  tt.return %q : !tt.ptr<f32>
}

// Functions of MLIR, and what is only declared.
// PUBLIC: func.func private @elsewhere(!tt.ptr<f16>)
// CHECK: func.func private @elsewhere(memref<*xf16>) -> memref<*xf16>
func.func private @elsewhere(!tt.ptr<f16>) -> !tt.ptr<f16>
// CHECK-LABEL: func.func @standard
// CHECK-SAME: (%[[M:.*]]: memref<*xf16>) -> memref<*xf16>
// CHECK: call @elsewhere(%{{.*}}) : (memref<*xf16>) -> memref<*xf16>
// CHECK: return %{{.*}} : memref<*xf16>
func.func @standard(%x: !tt.ptr<f16>) -> !tt.ptr<f16> {
  %y = func.call @elsewhere(%x) : (!tt.ptr<f16>) -> !tt.ptr<f16>
  return %y : !tt.ptr<f16>
}
