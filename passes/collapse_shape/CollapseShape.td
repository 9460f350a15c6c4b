// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def CollapseShapePass : Pass<"triton-ext-collapse-shape", "::mlir::ModuleOp"> {
  let summary = "Merge adjacent dimensions of operations of linalg that treat them alike";
  let description = [{
    An operation of linalg on tensors of known shape runs on tensors of fewer
    dimensions, so that it becomes fewer loops:

    - `linalg.fill` and `linalg.map` on one dimension;
    - `linalg.broadcast` with one dimension for adjacent dimensions that are all
      added, or all from the input;
    - `linalg.reduce` with one dimension for adjacent dimensions that are all
      reduced, or all kept;
    - `linalg.transpose` with one dimension for dimensions that are adjacent, in the
      same order, in input and result.

    The operands become `tensor.collapse_shape`, the results `tensor.expand_shape`,
    which move no element. `-canonicalize` removes those that undo each other.
    Operations on memrefs, on unknown sizes, and with `linalg.index` stay, and so do
    other operations.

    ```mlir
    %r = linalg.transpose ins(%x : tensor<2x3x4x5xf32>) outs(%o : tensor<4x5x2x3xf32>) permutation = [2, 3, 0, 1]
    // becomes
    %0 = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<2x3x4x5xf32> into tensor<6x20xf32>
    %1 = tensor.collapse_shape %o [[0, 1], [2, 3]] : tensor<4x5x2x3xf32> into tensor<20x6xf32>
    %2 = linalg.transpose ins(%0 : tensor<6x20xf32>) outs(%1 : tensor<20x6xf32>) permutation = [1, 0]
    %r = tensor.expand_shape %2 [[0, 1], [2, 3]] output_shape [4, 5, 2, 3] : tensor<20x6xf32> into tensor<4x5x2x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}
