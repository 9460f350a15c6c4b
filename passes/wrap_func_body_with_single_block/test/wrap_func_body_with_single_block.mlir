// RUN: triton-ext-opt %s -wrap-func-body-with-single-block -split-input-file | FileCheck %s

// CHECK-LABEL: tt.func public @early_return
// CHECK-SAME: (%[[C:.*]]: i1, %[[P:.*]]: !tt.ptr<f32>)
// CHECK-NEXT: scf.execute_region {
// CHECK-NEXT:   cf.cond_br %[[C]], ^[[EARLY:.*]], ^[[LATE:.*]]
// CHECK-NEXT: ^[[EARLY]]:
// CHECK-NEXT:   cf.br ^[[EXIT:.*]]
// CHECK-NEXT: ^[[LATE]]:
// CHECK:        tt.store %[[P]]
// CHECK-NEXT:   cf.br ^[[EXIT]]
// CHECK-NEXT: ^[[EXIT]]:
// CHECK-NEXT:   scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func public @early_return(%c: i1, %p: !tt.ptr<f32>) {
  cf.cond_br %c, ^early, ^late
^early:
  tt.return
^late:
  %0 = arith.constant 1.0 : f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// -----

// Returned values are yielded by the region.
// CHECK-LABEL: tt.func private @values
// CHECK: %[[R:.*]]:2 = scf.execute_region -> (i32, f32) {
// CHECK: cf.br ^[[EXIT:.*]](%{{.*}}, %{{.*}} : i32, f32)
// CHECK: cf.br ^[[EXIT]](%{{.*}}, %{{.*}} : i32, f32)
// CHECK: ^[[EXIT]](%[[A:.*]]: i32, %[[X:.*]]: f32):
// CHECK-NEXT: scf.yield %[[A]], %[[X]] : i32, f32
// CHECK: tt.return %[[R]]#0, %[[R]]#1 : i32, f32
tt.func private @values(%c: i1, %a: i32, %b: i32, %x: f32) -> (i32, f32) {
  cf.cond_br %c, ^one, ^two(%b : i32)
^one:
  tt.return %a, %x : i32, f32
^two(%v: i32):
  tt.return %v, %x : i32, f32
}

// -----

// A func.func is wrapped, too, and keeps func.return.
// CHECK-LABEL: func.func @func
// CHECK: scf.execute_region
// CHECK: return
func.func @func(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}

// -----

// A body of one block, a declaration, and a function that never returns stay.
// CHECK-LABEL: tt.func @one_block
// CHECK-NEXT: tt.return
// CHECK-LABEL: tt.func private @declared()
// CHECK-LABEL: tt.func @forever
// CHECK-NOT: scf.execute_region
tt.func @one_block() {
  tt.return
}
tt.func private @declared()
tt.func @forever() {
  cf.br ^loop
^loop:
  cf.br ^loop
}
