// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ExtractLikeMoveBackwardPass : Pass<"triton-ext-extract-like-move-backward", "::mlir::ModuleOp"> {
  let summary = "Compute elements that are extracted from tensors as scalars";
  let description = [{
    A `tensor.extract` moves backwards, over the operations that compute its tensor,
    which are then done for the one element: `arith` and `math` on tensors,
    `linalg.map`, `fill`, `broadcast`, `transpose` and `copy`,
    `linalg_ext.make_range`, `tensor.expand_shape` and `collapse_shape` of static
    shapes, and constants. It stops at any other operation; an element of a loaded
    tensor, for example, is extracted right after the load. The tensors stay for
    their other users; the next canonicalization erases those without users.

    ```mlir
    %1 = linalg.map { arith.addi } ins(%range, %filled : tensor<128xi32>, tensor<128xi32>) outs(%o : tensor<128xi32>)
    %2 = tensor.extract %1[%c0] : tensor<128xi32>
    // becomes, with %a what %filled is filled with, and %start where %range begins
    %2 = arith.addi %start, %a : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
