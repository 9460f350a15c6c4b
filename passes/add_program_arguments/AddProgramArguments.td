// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def AddProgramArgumentsPass : Pass<"triton-ext-add-program-arguments", "::mlir::ModuleOp"> {
  let summary = "Pass the numbers and ids of programs as arguments";
  let description = [{
    Every `func.func` with a body gets six `i32` arguments behind its own: the
    numbers of programs along x, y and z, and the ids of this program. They replace
    `tt.get_num_programs` and `tt.get_program_id`, and calls pass them on. The
    arguments are marked with `tt.program_argument`; a function that has them is
    left untouched.

    The option `program-arguments` of `-convert-triton-to-linalg`,
    `-triton-to-linalg` and `-lower-linalg-ext` does the same.

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
