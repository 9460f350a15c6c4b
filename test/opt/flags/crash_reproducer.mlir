// SPDX-License-Identifier: Apache-2.0
//
// -mlir-pass-pipeline-crash-reproducer writes a module that -run-reproducer runs.

// RUN: not triton-ext-opt %s -cse -rename='old=f new=1' -mlir-pass-pipeline-crash-reproducer=%t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE < %t
// RUN: not triton-ext-opt %t -run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not triton-ext-opt %s -cse -rename='old=f new=1' -mlir-disable-threading -mlir-pass-pipeline-local-reproducer -mlir-pass-pipeline-crash-reproducer=%t 2>&1 | FileCheck %s

// CHECK: error: cannot be renamed to '1'
// CHECK: reproducer generated at
// FILE: pipeline: "builtin.module(cse, triton-ext-rename{new=1 old=f})"
// AGAIN: error: cannot be renamed to '1'
tt.func @f() {
  tt.return
}
