// RUN: triton-ext-opt %s -inline -split-input-file | FileCheck %s

// libtriton has func and the inliner, but not what joins them.
// CHECK-LABEL: func.func @one_block
// CHECK-NEXT: %[[R:.*]] = arith.addi
// CHECK-NEXT: return %[[R]]
// CHECK-NOT: @callee
func.func private @callee(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
func.func @one_block(%a: i32) -> i32 {
  %0 = call @callee(%a) : (i32) -> i32
  return %0 : i32
}

// -----

// CHECK-LABEL: func.func @two_blocks
// CHECK-NOT: call
// CHECK: cf.cond_br %{{.*}}, ^[[B:.*]](%{{.*}} : i32), ^
// CHECK: cf.br ^[[B]](%{{.*}} : i32)
// CHECK: ^[[B]](%[[R:.*]]: i32):
// CHECK-NEXT: return %[[R]]
func.func private @callee(%c: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^yes, ^no
^yes:
  return %a : i32
^no:
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}
func.func @two_blocks(%c: i1, %a: i32, %b: i32) -> i32 {
  %0 = call @callee(%c, %a, %b) : (i1, i32, i32) -> i32
  return %0 : i32
}

// -----

// CHECK-LABEL: tt.func @triton
// CHECK-NEXT: tt.return
tt.func private @callee() {
  tt.return
}
tt.func @triton() {
  tt.call @callee() : () -> ()
  tt.return
}
