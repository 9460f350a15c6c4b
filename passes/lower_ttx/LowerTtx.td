// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerTtxPass : Pass<"triton-ext-lower-ttx", "::mlir::ModuleOp"> {
  let summary = "Turn the operations of ttx into those of linalg_ext";
  let description = [{
    A `ttx.cumsum` becomes a `linalg_ext.scan` along its axis, in its direction, on
    tensors or memrefs.

    ```mlir
    %r = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) -> tensor<64xf32>
    // becomes
    %r = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) {
    ^bb0(%acc: f32, %in: f32):
      %0 = arith.addf %acc, %in : f32
      linalg_ext.yield %0 : f32
    } -> tensor<64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton_ext::linalg_ext::LinalgExtDialect"];
}
