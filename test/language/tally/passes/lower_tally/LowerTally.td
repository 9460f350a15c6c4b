// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerTallyPass : Pass<"triton-ext-lower-tally", "::mlir::ModuleOp"> {
  let summary = "Lower the dialect tally to arith";
  let description = [{
    `tally.order` becomes a minimum and a maximum, `tally.count` its operand,
    and everything else goes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
