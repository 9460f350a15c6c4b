// SPDX-License-Identifier: Apache-2.0
//
// Converts operations of math and math_ext on ranked tensors to linalg.map.
// Other operations are left untouched.

#include "linalg_ext/MapElementwise.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#define DEBUG_TYPE "triton-ext-convert-math-to-linalg"

namespace mlir::triton_ext::convert_math_to_linalg {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CONVERTMATHTOLINALGPASS
#include "ConvertMathToLinalg.h.inc"
} // namespace mlir::triton_ext::convert_math_to_linalg

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

namespace {
struct ConvertMathToLinalgPass
    : mlir::triton_ext::convert_math_to_linalg::impl::
          ConvertMathToLinalgPassBase<ConvertMathToLinalgPass> {
  using ConvertMathToLinalgPassBase::ConvertMathToLinalgPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect,
                          triton_ext::math_ext::MathExtDialect>(
              op->getDialect()) &&
          isElementwiseOnTensors(op))
        mapElementwise(op, rewriter);
    });
  }
};
} // namespace
