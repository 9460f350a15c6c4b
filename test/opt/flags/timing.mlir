// SPDX-License-Identifier: Apache-2.0
//
// -mlir-timing, -mlir-pass-statistics and -mlir-disable-threading.

// RUN: triton-ext-opt %s -cse -mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: triton-ext-opt %s -cse -mlir-timing -mlir-timing-display=list -o %t 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: triton-ext-opt %s -cse -mlir-pass-statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS
// RUN: triton-ext-opt %s -cse -mlir-pass-statistics -mlir-pass-statistics-display=list -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS
// RUN: triton-ext-opt %s -cse -mlir-disable-threading | FileCheck %s --check-prefix=SERIAL

// TIMING: Execution time report
// TIMING-DAG: Parser
// TIMING-DAG: CSE
// TIMING-DAG: Output
// STATISTICS: Pass statistics report
// STATISTICS: CSE
// STATISTICS: (S) 1 num-cse'd
// SERIAL: tt.return %0, %0
tt.func @f() -> (i32, i32) {
  %0 = tt.get_program_id x : i32
  %1 = tt.get_program_id x : i32
  tt.return %0, %1 : i32, i32
}
