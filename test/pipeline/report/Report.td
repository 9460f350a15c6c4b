// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ReportPass : Pass<"triton-ext-report", "::mlir::triton::FuncOp"> {
  let summary = "Say something about each kernel, or go wrong";
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"remark\"",
           "remark, engine, warning, error, silent, invalid, crash, exit, "
           "fatal, thread, hang, throw, attribute, location, operands or "
           "rebuild">,
  ];
}
