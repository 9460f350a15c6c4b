// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def CanonicalizeTritonPass : Pass<"triton-ext-canonicalize-triton", "::mlir::ModuleOp"> {
  let summary = "Bring splats, masks and pointers into one form";
  let description = [{
    Does what Triton's own canonicalization does not, so that conversions to
    structured operations have fewer forms to recognise:

    - An elementwise operation on splats, also on splats of pointers, is done once,
      on the scalars: `op(splat a, splat b)` becomes `splat op(a, b)`. A splat whose
      shape is changed becomes a splat of the other shape.
    - In a comparison of a splat with another tensor, the splat is on the right.
    - `select m, n, false` becomes the mask `m and n`, and `select m, true, n`
      becomes `m or n`.
    - If the shape of a tensor of pointers is changed, the shapes of its base and of
      its offsets are changed instead.

    - A load whose mask is the conjunction of bounds and of other masks loads what is
      in the bounds, a block, and selects by the other masks. It does so only if
      another access, by the same pointers and at most these bounds, is executed
      whenever the load is. Otherwise the other masks may say which memory can be
      read.

    ```mlir
    %1 = tt.splat %a : i32 -> tensor<128xi32>
    %2 = tt.splat %b : i32 -> tensor<128xi32>
    %3 = arith.addi %1, %2 : tensor<128xi32>
    // becomes
    %0 = arith.addi %a, %b : i32
    %3 = tt.splat %0 : i32 -> tensor<128xi32>
    ```
  }];
  let options = [
    Option<"speculateLoads", "speculate-loads", "bool", /*default=*/"false",
           "Load all that is in the bounds, even if no other access shows that it can be read">,
  ];
  let dependentDialects = ["::mlir::triton::TritonDialect"];
}
