// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ExpandDotScaledPass : Pass<"triton-ext-expand-dot-scaled", "::mlir::ModuleOp"> {
  let summary = "Replace products of scaled narrow floats by products of bf16 or f32";
  let description = [{
    Each operand of a `tt.dot_scaled` is converted to f32 and multiplied by its
    scales. This is exact but for numbers outside of the range of f32. Then a
    `tt.dot` multiplies the operands and sums in f32.

    With `narrow`, the operands are rounded to bf16 where that changes nothing:
    where elements and scales have at most 8 significant bits together, for both
    operands. So units for bf16 can multiply them. Numbers below 2^-126 are
    then subnormal in bf16; some of these units take them for 0.

    Operands of the formats e2m3 and e3m2 stay, because no type of MLIR that
    Triton uses has them.

    Sources: OCP Microscaling Formats (MX) Specification 1.0, sections 5.3
    (elements) and 5.4 (scales); Triton's documentation of `tl.dot_scaled`.

    ```mlir
    %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<32x64xf8E4M3FN>, tensor<32x2xi8> * tensor<64x32xbf16> -> tensor<32x32xf32>
    // becomes, with %factors the powers of two of %s, each of them 32 times
    %elements = tt.fp_to_fp %a : tensor<32x64xf8E4M3FN> -> tensor<32x64xf32>
    %scaled = arith.mulf %elements, %factors : tensor<32x64xf32>
    %right = arith.extf %b : tensor<64x32xbf16> to tensor<64x32xf32>
    %d = tt.dot %scaled, %right, %c : tensor<32x64xf32> * tensor<64x32xf32> -> tensor<32x32xf32>
    ```
  }];
  let options = [
    Option<"narrow", "narrow", "bool", /*default=*/"false",
           "Multiply operands as bf16 where both are exact in it">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
}
