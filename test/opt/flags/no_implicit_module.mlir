// SPDX-License-Identifier: Apache-2.0
//
// -no-implicit-module: what stands alone stays alone.

// RUN: triton-ext-opt %s -no-implicit-module | FileCheck %s --implicit-check-not=module
// RUN: triton-ext-opt %s | FileCheck %s --check-prefix=MODULE

// CHECK: func.func @f()
// MODULE: module {
// MODULE: func.func @f()
func.func @f() {
  return
}
