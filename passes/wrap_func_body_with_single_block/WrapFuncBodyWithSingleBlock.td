// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def WrapFuncBodyWithSingleBlockPass : Pass<"triton-ext-wrap-func-body-with-single-block", "::mlir::ModuleOp"> {
  let summary = "Give functions of several blocks a single block";
  let description = [{
    The body of a function with several blocks moves into an
    `scf.execute_region`. Its calls can then be inlined into operations that allow a
    single block, such as `scf.for`, and conversions have a single return to handle.
    All returns branch to one `scf.yield`. Functions of one block and declarations
    are left untouched.

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
