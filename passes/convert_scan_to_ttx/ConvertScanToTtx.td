// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ConvertScanToTtxPass : Pass<"triton-ext-convert-scan-to-ttx", "::mlir::ModuleOp"> {
  let summary = "Turn scans that are sums into ttx.cumsum";
  let description = [{
    A `linalg_ext.scan` of one input, without accumulators, whose body adds the
    element to the sum, becomes a `ttx.cumsum`. Compilers that take triton-shared's
    output know this operation.

    Triton-shared's `ttx.cumsum` has no `reverse`, and its parser accepts unknown
    attributes. So scans from the end stay, unless the option `reverse` is true.
    Sums of floats with fast-math flags stay, because `ttx.cumsum` has none.

    ```mlir
    %r = linalg_ext.scan dimension = 0 reverse(false) ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) {
    ^bb0(%acc: f32, %in: f32):
      %0 = arith.addf %acc, %in : f32
      linalg_ext.yield %0 : f32
    } -> tensor<64xf32>
    // becomes
    %r = ttx.cumsum {axis = 0 : ui32} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let options = [
    Option<"reverse", "reverse", "bool", "false", "Also convert scans from the end, which triton-shared does not know">,
  ];
  let dependentDialects = ["::mlir::triton_ext::ttx::TtxDialect"];
}
