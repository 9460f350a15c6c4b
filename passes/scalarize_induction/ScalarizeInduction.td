// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ScalarizeInductionPass : Pass<"triton-ext-scalarize-induction", "::mlir::ModuleOp"> {
  let summary = "Carry one scalar for a tensor that a loop advances uniformly";
  let description = [{
    A loop that carries a tensor of pointers or integers and adds the same amount
    to all its elements carries a scalar offset instead, which starts at zero. In
    the loop and behind it, the tensor is the sum of the tensor before the loop and
    the offset, so that analyses still see that it is contiguous or strided. The
    amount may differ from iteration to iteration. Offsets of pointers are i64.

    A tensor that a loop advances in any other way stays. The tensor before the loop
    is still carried, unchanged; `-canonicalize` drops it.

    `-ptr-strength-reduction` also moves scalars out of nested `tt.addptr` and
    carries tensors of offsets, which changes addresses that no loop carries. This
    pass changes loops only.

    ```mlir
    scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<128x!tt.ptr<f32>>) : i32 {
      %v = tt.load %p : tensor<128x!tt.ptr<f32>>
      %q = tt.addptr %p, %splat : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      scf.yield %q : tensor<128x!tt.ptr<f32>>
    }
    // becomes, with %splat the splat of %s, and %s64 this scalar as i64
    scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> (i64) : i32 {
      %os = tt.splat %o : i64 -> tensor<128xi64>
      %p = tt.addptr %p0, %os : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
      %v = tt.load %p : tensor<128x!tt.ptr<f32>>
      %next = arith.addi %o, %s64 : i64
      scf.yield %next : i64
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
}
