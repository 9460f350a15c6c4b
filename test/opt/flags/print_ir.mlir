// SPDX-License-Identifier: Apache-2.0
//
// -mlir-print-ir-before, -after, -before-all, -after-all, -after-change and
// -after-failure print to standard error.

// RUN: triton-ext-opt %s -cse -canonicalize -mlir-print-ir-before=canonicalize -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: triton-ext-opt %s -cse -canonicalize -mlir-print-ir-after=cse -o %t 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: triton-ext-opt %s -cse -canonicalize -mlir-print-ir-before-all -mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: triton-ext-opt %s -cse -cse -mlir-print-ir-after-all -mlir-print-ir-after-change -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: not triton-ext-opt %s -rename='old=f new=1' -mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=FAILURE
// RUN: triton-ext-opt %s --pass-pipeline='builtin.module(tt.func(cse))' -mlir-print-ir-after-all -mlir-print-ir-module-scope -o %t 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: rm -rf %t.dir && triton-ext-opt %s -cse -mlir-print-ir-after-all -mlir-print-ir-tree-dir=%t.dir -o %t && cat %t.dir/builtin_module_no-symbol-name/0_cse.mlir | FileCheck %s --check-prefix=TREE

// BEFORE-NOT: IR Dump
// BEFORE: IR Dump Before CanonicalizerPass
// BEFORE-NOT: IR Dump
// AFTER-NOT: IR Dump
// AFTER: IR Dump After CSEPass
// AFTER-NOT: IR Dump
// ALL: IR Dump Before CSEPass
// ALL: IR Dump After CSEPass
// ALL: IR Dump Before CanonicalizerPass
// ALL: IR Dump After CanonicalizerPass
// The second finds nothing to do.
// CHANGE: IR Dump After CSEPass
// CHANGE-NOT: IR Dump
// FAILURE: IR Dump After RenamePass Failed
// MODULE: IR Dump After CSEPass
// MODULE-NEXT: module {
// TREE: tt.func @f
tt.func @f() -> (i32, i32) {
  %0 = tt.get_program_id x : i32
  %1 = tt.get_program_id x : i32
  tt.return %0, %1 : i32, i32
}
