// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def PrintStridesPass : Pass<"triton-ext-print-strides", "::mlir::ModuleOp"> {
  let summary = "For tests: the strides that the CPU backend's plan has of each tensor, as remarks";
  let description = [{
    One remark for each operation whose one result is a tensor. The module is
    left as it is.
  }];
}
