// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def PrintAnalysesPass : Pass<"triton-ext-print-analyses", "::mlir::ModuleOp"> {
  let summary = "For tests: what the analyses say of each value, as remarks";
  let description = [{
    At each operation, and at each function of its arguments, one remark for each
    analysis that has something to say of its results. The module is left as it
    is.
  }];
  let options = [
    Option<"axis", "axis", "bool", "false", "Axis information">,
    Option<"wraps", "wraps", "bool", "false",
           "Axis information that holds where sums and products wrap, too">,
    Option<"offsets", "offsets", "bool", "false", "The offset tracker, on tensors of integers">,
    Option<"pointers", "pointers", "bool", "false", "The pointer tracker, on tensors of pointers">,
    Option<"masks", "masks", "bool", "false", "The mask tracker, on tensors of i1">,
  ];
}
