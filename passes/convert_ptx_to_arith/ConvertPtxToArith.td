// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ConvertPtxToArithPass : Pass<"triton-ext-convert-ptx-to-arith", "::mlir::ModuleOp"> {
  let summary = "Replace inline PTX assembly by operations";
  let description = [{
    Replaces each `tt.elementwise_inline_asm` whose text is PTX without branches and
    accesses to memory by operations that compute the same, so that targets other
    than NVIDIA's GPUs can compile it. The text may declare registers, have blocks
    in braces, and predicate instructions; elements that share a register
    (`packed_element`) become the lanes of a `tt.map_elementwise`.

    An operation that is not replaced gets the attribute `ptx.refused`: the
    instruction, and why it is refused.

    ```mlir
    %1 = tt.elementwise_inline_asm "shf.l.wrap.b32 $0, $1, $2, 8;"
        {constraints = "=r,r,r", packed_element = 1 : i32, pure = true}
        %x, %y : tensor<64xi32>, tensor<64xi32> -> tensor<64xi32>
    ```

    The clocks need assembly of the processor, which is that of x86-64.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::triton::TritonDialect",
  ];
}
