// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def RenamePass : Pass<"triton-ext-rename", "::mlir::ModuleOp"> {
  let summary = "Rename a function and every use of its symbol";
  let description = [{
    Renames the function `old` to `new`, calls and other symbol references
    included. A module without `old` is left as it is. Fails if `new` is not an
    identifier that a kernel can have in PTX and AMDGCN, or if it is taken.

    ```mlir
    tt.func public @foo() { tt.return }
    // becomes
    tt.func public @bar() { tt.return }
    ```
  }];
  let options = [
    Option<"oldName", "old", "std::string", /*default=*/"\"foo\"",
           "The function to rename">,
    Option<"newName", "new", "std::string", /*default=*/"\"bar\"",
           "The name that it gets">,
  ];
}
