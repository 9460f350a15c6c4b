// RUN: triton-ext-opt %s -triton-ext-structure-returns | FileCheck %s
// RUN: triton-ext-opt %s -triton-ext-structure-returns="max-paths=2" | FileCheck %s --check-prefix=FEW

// The operations after a branch that does not return move into the branch.
// FEW-LABEL: tt.func private @three_ways
// FEW: cf.cond_br
// CHECK-LABEL: tt.func private @three_ways
// CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i32) -> i32
// CHECK-NOT: cf.
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK:   scf.yield %[[A]] : i32
// CHECK: } else {
// CHECK:   %[[SUM:.*]] = arith.addi %[[A]], %[[B]]
// CHECK:   %[[INNER:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK:     scf.yield %[[SUM]] : i32
// CHECK:   } else {
// CHECK:     scf.yield %[[B]] : i32
// CHECK:   }
// CHECK:   scf.yield %[[INNER]] : i32
// CHECK: }
// CHECK: tt.return %[[R]] : i32
tt.func private @three_ways(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi sgt, %a, %b : i32
  cf.cond_br %0, ^one, ^two(%b : i32)
^one:
  tt.return %a : i32
^two(%c: i32):
  %1 = arith.addi %a, %c : i32
  %2 = arith.cmpi slt, %1, %a : i32
  cf.cond_br %2, ^three(%1 : i32), ^three(%c : i32)
^three(%d: i32):
  tt.return %d : i32
}

// The blocks of a kernel stay if only scalars pass between them.
// CHECK-LABEL: tt.func public @kernel
// CHECK: cf.cond_br
tt.func public @kernel(%x: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %0 = arith.cmpi eq, %n, %c0 : i32
  cf.cond_br %0, ^end, ^rest(%n : i32)
^end:
  tt.return
^rest(%m: i32):
  tt.store %x, %m : !tt.ptr<i32>
  tt.return
}

// The blocks of a kernel become scf.if if a tensor passes between them.
// CHECK-LABEL: tt.func public @tensors
// CHECK-NOT: cf.
// CHECK: scf.if
// CHECK: tt.store
// CHECK: tt.return
tt.func public @tensors(%x: tensor<4x!tt.ptr<i32>>, %v: tensor<4xi32>, %n: i1) {
  cf.cond_br %n, ^end, ^rest(%v : tensor<4xi32>)
^end:
  tt.return
^rest(%m: tensor<4xi32>):
  tt.store %x, %m : tensor<4x!tt.ptr<i32>>
  tt.return
}

// Blocks that form a loop stay.
// CHECK-LABEL: tt.func private @loop
// CHECK: cf.cond_br
tt.func private @loop(%n: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  cf.br ^head(%n : i32)
^head(%i: i32):
  %0 = arith.subi %i, %c1 : i32
  %1 = arith.cmpi sgt, %0, %c1 : i32
  cf.cond_br %1, ^head(%0 : i32), ^end
^end:
  tt.return %0 : i32
}
