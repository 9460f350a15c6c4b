// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def InlineCallsPass : Pass<"triton-ext-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline calls without canonicalizing functions";
  let description = [{
    MLIR's `-inline` canonicalizes a function before it inlines it. That undoes
    `-wrap-func-body-with-single-block`, so that a call of a function with an early
    return could not be inlined into a loop. This pass inlines functions unchanged.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}
