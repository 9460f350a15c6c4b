// SPDX-License-Identifier: Apache-2.0
//
// -verify-diagnostics: diagnostics are compared with the comments.

// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics
// RUN: triton-ext-opt %s -split-input-file -verify-diagnostics=only-expected
// RUN: sed 's/use of undeclared/use of declared/' %s | not triton-ext-opt - -split-input-file -verify-diagnostics 2>&1 | FileCheck %s

// CHECK: error: unexpected error: use of undeclared SSA value name
// CHECK: error: expected error "use of declared SSA value name" was not produced
tt.func @parse() {
  // expected-error @+1 {{use of undeclared SSA value name}}
  tt.call @f(%0) : (i32) -> ()
  tt.return
}

// -----

tt.func @verify() -> i32 {
  // expected-error @+1 {{'tt.return' op has 0 operands, but enclosing function}}
  tt.return
}
