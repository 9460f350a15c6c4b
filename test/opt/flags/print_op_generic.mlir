// SPDX-License-Identifier: Apache-2.0
//
// -mlir-print-op-generic and -mlir-print-debuginfo.

// RUN: triton-ext-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: triton-ext-opt %s -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=LOCATION
// RUN: triton-ext-opt %s | FileCheck %s --check-prefix=PLAIN

// GENERIC: "tt.func"() <{{{.*}}sym_name = "f"
// LOCATION: tt.return loc("here":1:2)
// PLAIN: tt.return{{$}}
tt.func @f() {
  tt.return loc("here":1:2)
}
