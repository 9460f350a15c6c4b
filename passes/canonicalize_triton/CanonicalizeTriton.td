// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def CanonicalizeTritonPass : Pass<"triton-ext-canonicalize-triton", "::mlir::ModuleOp"> {
  let summary = "Bring tensors of one value, masks and pointers into one form";
  let description = [{
    What Triton's own canonicalization leaves, and conversions to structured
    operations would each have to know:

    - What is done elementwise, pointers included, with tensors of one value is
      done once, with the value: `op(splat a, splat b)` is `splat op(a, b)`.
      Changes of shape of such a tensor are a splat of the other shape.
    - Of two tensors that are compared, the one of one value stands on the right.
    - `select m, n, false` is the mask `m and n`, `select m, true, n` is `m or n`.
    - A change of shape of a pointer tensor is one of its base and its offsets.

    ```mlir
    %1 = tt.splat %a : i32 -> tensor<128xi32>
    %2 = tt.splat %b : i32 -> tensor<128xi32>
    %3 = arith.addi %1, %2 : tensor<128xi32>
    // becomes
    %0 = arith.addi %a, %b : i32
    %3 = tt.splat %0 : i32 -> tensor<128xi32>
    ```
  }];
  let dependentDialects = ["::mlir::triton::TritonDialect"];
}
