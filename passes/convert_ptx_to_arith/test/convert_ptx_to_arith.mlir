// RUN: triton-ext-opt %s -split-input-file -triton-ext-convert-ptx-to-arith | FileCheck %s

// Instructions become operations on tensors; constants are folded.
// CHECK-LABEL: tt.func public @tensor
// CHECK-SAME: %[[X:.*]]: tensor<64xi32>, %[[Y:.*]]: tensor<64xi32>
// CHECK-NOT: elementwise_inline_asm
// CHECK: %[[SUM:.*]] = arith.addi %[[X]], %[[Y]] : tensor<64xi32>
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[SUM]], %{{.*}} : tensor<64xi32>
// CHECK: tt.return %[[SHIFTED]]
tt.func public @tensor(%x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi32> {
  %0 = tt.elementwise_inline_asm "{ .reg .u32 t<2>; add.u32 t1, $1, $2; shl.b32 $0, t1, 3; }" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x, %y : tensor<64xi32>, tensor<64xi32> -> tensor<64xi32>
  tt.return %0 : tensor<64xi32>
}

// -----

// A float is a float only inside of its instruction; .rn is not fused.
// CHECK-LABEL: tt.func public @scalar
// CHECK: tt.extern_elementwise %{{.*}} {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_fmul_rn"} : (f32, f32) -> f32
// CHECK-NOT: elementwise_inline_asm
tt.func public @scalar(%x: f32) -> f32 {
  %0 = tt.elementwise_inline_asm "mul.rn.f32 $0, $1, 0f40000000;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : f32 -> f32
  tt.return %0 : f32
}

// -----

// Four bytes share a register: the operations are on scalars, and the first byte is the lowest.
// CHECK-LABEL: tt.func public @packed
// CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 4 : i32}>
// CHECK: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8, %[[C:.*]]: i8, %[[D:.*]]: i8):
// CHECK: %[[LOW:.*]] = arith.extui %[[A]] : i8 to i32
// CHECK: %[[NEXT:.*]] = arith.extui %[[B]] : i8 to i32
// CHECK: %[[PLACED:.*]] = arith.shli %[[NEXT]], %{{.*}} : i32
// CHECK: arith.ori %[[LOW]], %[[PLACED]] : i32
// CHECK: tt.map_elementwise.return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i8, i8, i8, i8
tt.func public @packed(%x: tensor<64xi8>) -> tensor<64xi8> {
  %0 = tt.elementwise_inline_asm "not.b32 $0, $1;" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %x : tensor<64xi8> -> tensor<64xi8>
  tt.return %0 : tensor<64xi8>
}

// -----

// A predicated instruction keeps the register where the predicate is false.
// CHECK-LABEL: tt.func public @predicated
// CHECK-SAME: %[[X:.*]]: i32
// CHECK: %[[P:.*]] = arith.cmpi slt, %[[X]]
// CHECK: %[[NEGATED:.*]] = arith.subi %{{.*}}, %[[X]]
// CHECK: arith.select %[[P]], %[[NEGATED]], %[[X]]
tt.func public @predicated(%x: i32) -> i32 {
  %0 = tt.elementwise_inline_asm "{ .reg .pred p; setp.lt.s32 p, $1, 0; mov.b32 $0, $1; @p neg.s32 $0, $1; }" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  tt.return %0 : i32
}

// -----

// What is refused stays, with the reason, and without remains of it.
// CHECK-LABEL: tt.func public @refused
// CHECK-NEXT: tt.elementwise_inline_asm {{.*}}ptx.refused = "'bar.sync 0': this instruction is not supported"
// CHECK-NEXT: tt.elementwise_inline_asm {{.*}}target = "x86-64"
tt.func public @refused(%x: i32) -> (i32, i64) {
  %0 = tt.elementwise_inline_asm "add.u32 $0, $1, 1; bar.sync 0;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : i32 -> i32
  %1 = tt.elementwise_inline_asm "rdtsc" {constraints = "={rax}", packed_element = 1 : i32, pure = false, target = "x86-64"} -> i64
  tt.return %0, %1 : i32, i64
}
