// SPDX-License-Identifier: Apache-2.0
//
// A pass that fails says so at the location of what it failed on.

// RUN: triton-ext-opt %s -rename='old=foo new=taken' -split-input-file -verify-diagnostics
// RUN: not triton-ext-opt %s -rename='old=foo new=taken' -split-input-file -o %t 2>&1 | FileCheck %s
// RUN: not ls %t

// CHECK: failing_pass.mlir:[[@LINE+4]]:1: error: cannot be renamed to 'taken'
// CHECK: failing_pass.mlir:[[@LINE+7]]:1: note: it is the name of this

// expected-error @+1 {{cannot be renamed to 'taken': the name is taken}}
tt.func public @foo() {
  tt.return
}
// expected-note @+1 {{it is the name of this}}
tt.func private @taken() {
  tt.return
}

// -----

// Nothing to rename, nothing said.
tt.func public @bar() {
  tt.return
}
