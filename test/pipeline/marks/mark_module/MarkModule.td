// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def MarkModulePass : Pass<"triton-ext-mark-module"> {
  let summary = "Count the defined functions of a module in its metadata";
}
