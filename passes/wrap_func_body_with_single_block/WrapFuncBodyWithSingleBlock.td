// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def WrapFuncBodyWithSingleBlockPass : Pass<"triton-ext-wrap-func-body-with-single-block", "::mlir::ModuleOp"> {
  let summary = "Make functions of several blocks functions of one";
  let description = [{
    The body of a function with several blocks moves into an
    `scf.execute_region`, so that a call of it can be inlined where only one
    block may stand, such as in `scf.for`, and conversions need to know the
    return of one block only. Functions of one block and declarations are left
    as they are. There is one yield, to which all returns branch.

    ```mlir
    tt.func @f(%c: i1) {
      cf.cond_br %c, ^early, ^late
    ^early:
      tt.return
    ^late:
      A
      tt.return
    }
    // becomes
    tt.func @f(%c: i1) {
      scf.execute_region {
        cf.cond_br %c, ^early, ^late
      ^early:
        cf.br ^exit
      ^late:
        A
        cf.br ^exit
      ^exit:
        scf.yield
      }
      tt.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::scf::SCFDialect"];
}
