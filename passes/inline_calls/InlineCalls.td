// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def InlineCallsPass : Pass<"triton-ext-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline calls, and leave functions otherwise as they are";
  let description = [{
    MLIR's `-inline` canonicalises a function before it inlines it, which takes
    apart what `-wrap-func-body-with-single-block` has made: a call of a
    function with an early return would stay in a loop. This inlines the
    function as it stands.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}
