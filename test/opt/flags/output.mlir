// SPDX-License-Identifier: Apache-2.0
//
// -o, and - for standard input and output. A failure leaves the file alone.

// RUN: triton-ext-opt %s -o %t && FileCheck %s < %t
// RUN: cat %s | triton-ext-opt - -o - | FileCheck %s
// RUN: cat %s | triton-ext-opt | FileCheck %s
// RUN: echo keep > %t && not triton-ext-opt %s -rename='old=f new=1' -o %t && FileCheck %s --check-prefix=KEPT < %t
// RUN: not triton-ext-opt %s -o %t.none/file 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: echo 'tt.func' | not triton-ext-opt - 2>&1 | FileCheck %s --check-prefix=STDIN

// CHECK: tt.func @f()
// KEPT: keep
// NOWHERE: triton-ext-opt: error: cannot write {{.*}}file: No such file or directory
// STDIN: <stdin>:2:1: error: {{.*}}expected valid '@'-identifier for symbol name
tt.func @f() {
  tt.return
}
