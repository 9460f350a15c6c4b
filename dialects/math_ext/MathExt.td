// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MathExtDialect : Dialect {
  let name = "math_ext";
  let summary = "Scalar functions of Triton that arith and math lack";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::math_ext";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
}

def MathExt_MulhiUIOp
    : Op<MathExtDialect, "mulhiui", [Pure, Commutative, SameOperandsAndResultType]
                                        # ElementwiseMappable.traits> {
  let summary = "High half of the product of two unsigned integers";
  let description = [{
    What the product of the operands, read as unsigned integers and taken in
    twice their width, holds above their width.

    ```mlir
    %c = math_ext.mulhiui %a, %b : i32
    %z = math_ext.mulhiui %x, %y : tensor<128xi32>
    ```
  }];
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasCanonicalizeMethod = 1;
  let hasFolder = 1;
}
