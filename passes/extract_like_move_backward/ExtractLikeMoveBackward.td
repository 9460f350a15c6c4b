// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ExtractLikeMoveBackwardPass : Pass<"triton-ext-extract-like-move-backward", "::mlir::ModuleOp"> {
  let summary = "Compute what is extracted from a tensor as scalars";
  let description = [{
    A `tensor.extract` moves towards where its tensor comes from, and what it
    passes is done for the one element: arith and math on tensors, `linalg.map`,
    `fill`, `broadcast`, `transpose` and `copy`, `linalg_ext.make_range`,
    `tensor.expand_shape` and `collapse_shape` of static shapes, constants. It
    stops at what is none of these, so that a loaded tensor is extracted from
    where it is loaded. The tensors stay for their other users; those that have
    none go with the next canonicalization.

    ```mlir
    %1 = linalg.map { arith.addi } ins(%range, %filled : tensor<128xi32>, tensor<128xi32>) outs(%o : tensor<128xi32>)
    %2 = tensor.extract %1[%c0] : tensor<128xi32>
    // becomes, with %a what %filled is filled with, and %start where %range begins
    %2 = arith.addi %start, %a : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
