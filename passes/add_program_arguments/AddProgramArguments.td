// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def AddProgramArgumentsPass : Pass<"triton-ext-add-program-arguments", "::mlir::ModuleOp"> {
  let summary = "Pass numbers of programs as arguments";
  let description = [{
    Every function of `func` that has a body gets six `i32` arguments behind its
    own: the numbers of programs along x, y and z, and the program's own numbers.
    `tt.get_num_programs` and `tt.get_program_id` are these, and calls hand them
    on. They are marked with `tt.program_argument`, and a function that has them
    is left as it is.

    The option `program-arguments` of `-convert-triton-to-linalg`,
    `-triton-to-linalg` and `-lower-linalg-ext` does this.

    ```mlir
    func.func @f() -> i32 {
      %0 = tt.get_program_id y : i32
      return %0 : i32
    }
    // becomes
    func.func @f(%nx: i32 {tt.program_argument}, %ny: i32 {tt.program_argument}, ..., %y: i32 {tt.program_argument}, %z: i32 {tt.program_argument}) -> i32 {
      return %y : i32
    }
    ```
  }];
}
