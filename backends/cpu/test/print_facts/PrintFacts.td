// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def PrintFactsPass : Pass<"triton-ext-print-facts", "::mlir::ModuleOp"> {
  let summary = "For tests: what the CPU backend knows of each integer, as remarks";
  let description = [{
    One remark for the first result of each operation that is an integer or a
    tensor, and for the induction variable of each loop. Arguments may have the attributes tt.divisibility and
    tt.limit, which are taken for granted. The module is left as it is.
  }];
}
