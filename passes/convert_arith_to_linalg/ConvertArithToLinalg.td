// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ConvertArithToLinalgPass : Pass<"triton-ext-convert-arith-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Turn arith on tensors into linalg";
  let description = [{
    Each elementwise operation of `arith` on tensors becomes a `linalg.map` with
    the same operation on scalars as its body, attributes included. A splat
    constant becomes a `linalg.fill`. Operations with two results, a select between
    tensors by one scalar, other constants, and operations on scalars, vectors or
    memrefs stay.

    ```mlir
    %2 = arith.addf %0, %1 : tensor<128xf32>
    // becomes
    %o = tensor.empty() : tensor<128xf32>
    %2 = linalg.map { arith.addf } ins(%0, %1 : tensor<128xf32>, tensor<128xf32>) outs(%o : tensor<128xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}
