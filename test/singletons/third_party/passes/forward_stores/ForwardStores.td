// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"
def ForwardStoresPass : Pass<"triton-ext-forward-stores", "::mlir::func::FuncOp"> {
  let summary = "Forward stored values to loads, by what MLIR's affine utilities know of effects";
}
