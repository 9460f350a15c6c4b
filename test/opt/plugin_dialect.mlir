// SPDX-License-Identifier: Apache-2.0
//
// A plugin's dialect can be parsed and lowered; without the plugin it is unknown.

// RUN: triton-ext-opt --load-extension %plugins/libMLIRDialectPlugin.so %s | FileCheck %s --check-prefix=PARSED
// RUN: triton-ext-opt --load-extension %plugins/libMLIRDialectPlugin.so %s -convert-plugin-gpu-to-llvm | FileCheck %s --check-prefix=LOWERED
// RUN: not triton-ext-opt %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// PARSED: plugin.magic
// LOWERED-NOT: plugin.magic
// LOWERED: llvm.add
// UNKNOWN: plugin_dialect.mlir:[[@LINE+3]]:8: error: Dialect `plugin' not found
tt.func @magic() -> i32 {
  %0 = tt.get_program_id x : i32
  %1 = plugin.magic %0 : i32
  tt.return %1 : i32
}
