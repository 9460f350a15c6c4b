// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def AddDebugInfoPass : Pass<"triton-ext-add-debug-info", "::mlir::ModuleOp"> {
  let summary = "Describe functions for debuggers, so that LLVM writes line tables";
  let description = [{
    Adds an `#llvm.di_subprogram` with file and line to the location of each function.
    MLIR's translation to LLVM IR then keeps the locations of the operations in it, and
    debuggers and profilers show lines of the kernel's source.

    The file and line are those of the function's location, or of the first one inside of a
    named, fused or call-site location. A function without a file stays as it is, and so does one
    that has a description. An operation without a file gets the line of its function:
    LLVM refuses a call without a line between two functions that have one.

    Tools that print the module on its way to LLVM have to keep locations:
    `-mlir-print-debuginfo`.

    ```mlir
    func.func @f() {...} loc("kernel.py":7:0)
    // becomes
    func.func @f() {...} loc(fused<#llvm.di_subprogram<..., name = "f", file = <"kernel.py" in "">, line = 7, ...>>["kernel.py":7:0])
    ```
  }];
  let options = [
    Option<"optimized", "optimized", "bool", /*default=*/"true",
           "Say that the code is optimized, so that debuggers expect lines out of order">,
    Option<"full", "full", "bool", /*default=*/"false",
           "Ask for all debug information, not only for line tables">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}
