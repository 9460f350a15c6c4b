// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def PlantedPass : Pass<"triton-ext-planted", "::mlir::ModuleOp"> {
  let summary = "Read a block argument that is destroyed";
  let options = [
    Option<"freed", "freed", "bool", "false", "read it after that, not before">,
  ];
}
