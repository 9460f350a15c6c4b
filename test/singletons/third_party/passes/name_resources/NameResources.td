// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"
def NameResourcesPass : Pass<"triton-ext-name-resources", "::mlir::ModuleOp"> {
  let summary = "A remark for each effect: which of the resources that this library knows it is on";
}
