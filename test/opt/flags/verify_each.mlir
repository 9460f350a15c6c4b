// SPDX-License-Identifier: Apache-2.0
//
// -verify-each, on by default: a pass that leaves invalid IR is found out. Here,
// branches within an affine.for.

// RUN: not triton-ext-opt %s -convert-scf-to-cf 2>&1 | FileCheck %s
// RUN: triton-ext-opt %s -convert-scf-to-cf -verify-each=false | FileCheck %s --check-prefix=OFF

// CHECK: verify_each.mlir:[[@LINE+4]]:3: error: 'affine.for' op
// CHECK-NOT: cf.cond_br {{.*}}^bb
// OFF: cf.cond_br
func.func @f(%c: i1) {
  affine.for %i = 0 to 4 {
    scf.if %c {
      scf.yield
    }
  }
  return
}
