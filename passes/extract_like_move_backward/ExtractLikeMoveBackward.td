// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ExtractLikeMoveBackwardPass : Pass<"triton-ext-extract-like-move-backward", "::mlir::ModuleOp"> {
  let summary = "Compute only the elements and slices that are taken from tensors";
  let description = [{
    A `tensor.extract` or a `tensor.extract_slice` moves backwards, over the
    operations that compute its tensor, which are then done for the one element or
    for the slice: `arith` and `math` on tensors, `linalg.map`, `fill`, `broadcast`
    and `transpose`, `linalg_ext.make_range`, `tensor.expand_shape` and
    `collapse_shape`. An element also moves over `linalg.copy` of a computed
    tensor. Where a loop computes a tensor elementwise from the tensor that it
    carries, and only a part of the last one is used, it carries the part. An
    extract stops at any other operation; an element of a loaded tensor, for
    example, is extracted right after the load. The tensors stay for their other
    users; the next canonicalization erases those without users.

    Only slices of static sizes move, because the operations on a slice of dynamic
    size have dynamic shapes, which many targets compile to slower code.

    ```mlir
    %1 = linalg.map { arith.addi } ins(%range, %filled : tensor<128xi32>, tensor<128xi32>) outs(%o : tensor<128xi32>)
    %2 = tensor.extract %1[%c0] : tensor<128xi32>
    // becomes, if %filled is filled with %a, and %range begins at %start
    %2 = arith.addi %start, %a : i32
    ```
  }];
  let options = [
    Option<"dynamicSlices", "dynamic-slices", "bool", "false", "Also move slices of dynamic sizes">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}
