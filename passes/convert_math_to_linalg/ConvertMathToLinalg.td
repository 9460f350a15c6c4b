// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ConvertMathToLinalgPass : Pass<"triton-ext-convert-math-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Turn math and math_ext on tensors into linalg";
  let description = [{
    Each elementwise operation of `math` or `math_ext` on tensors becomes a
    `linalg.map` with the same operation on scalars as its body, attributes
    included. `math.sincos`, which has two results, and operations on scalars or
    vectors stay.

    ```mlir
    %1 = math.exp %0 : tensor<128xf32>
    // becomes
    %o = tensor.empty() : tensor<128xf32>
    %1 = linalg.map { math.exp } ins(%0 : tensor<128xf32>) outs(%o : tensor<128xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}
