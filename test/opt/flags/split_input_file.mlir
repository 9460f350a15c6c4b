// SPDX-License-Identifier: Apache-2.0
//
// -split-input-file: pieces of their own, with the line numbers of the file.

// RUN: triton-ext-opt %s -split-input-file --allow-unregistered-dialect | FileCheck %s
// RUN: triton-ext-opt %s -split-input-file --allow-unregistered-dialect -output-split-marker='// next' | FileCheck %s --check-prefix=NEXT
// RUN: not triton-ext-opt %s -split-input-file 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not triton-ext-opt %s --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=WHOLE

// CHECK: tt.func @f()
// CHECK: // -----
// CHECK: tt.func @f()
// CHECK: // -----
// CHECK: "some.op"()
// NEXT: // next
// WHOLE: redefinition of symbol named 'f'
tt.func @f() {
  tt.return
}

// -----

tt.func @f() {
  tt.return
}

// -----

// ERROR: split_input_file.mlir:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}unregistered
"some.op"() : () -> ()
