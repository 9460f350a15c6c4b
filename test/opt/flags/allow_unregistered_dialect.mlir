// SPDX-License-Identifier: Apache-2.0
//
// -allow-unregistered-dialect: operations that nobody knows are kept.

// RUN: triton-ext-opt %s -allow-unregistered-dialect -canonicalize | FileCheck %s
// RUN: not triton-ext-opt %s 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: "some.op"() : () -> ()
// ERROR: allow_unregistered_dialect.mlir:[[@LINE+2]]:{{[0-9]+}}: error: {{.*}}unregistered
tt.func @f() {
  "some.op"() : () -> ()
  tt.return
}
