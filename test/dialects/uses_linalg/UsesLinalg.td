// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"
def UsesLinalgPass : Pass<"triton-ext-uses-linalg", "::mlir::ModuleOp"> {
  let summary = "Count operations of dialects that libtriton lacks";
}
