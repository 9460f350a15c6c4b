// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def SubtractPass : Pass<"triton-ext-subtract", "::mlir::ModuleOp"> {
  let summary = "Turn every addition of floats into a subtraction";
  let options = [
    Option<"first", "first", "bool", /*default=*/"false", "Turn only the first one">,
  ];
}
