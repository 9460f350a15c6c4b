// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def StampPass : Pass<"triton-ext-stamp", "::mlir::ModuleOp"> {
  let summary = "Append a version to the name of every public function";
}
