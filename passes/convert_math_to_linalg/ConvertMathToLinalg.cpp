// SPDX-License-Identifier: Apache-2.0
//
// Turns math and math_ext on ranked tensors into linalg.map. What is not on
// tensors is left untouched.

#include "ConvertMathToLinalg.h"

#include "linalg_ext/MapElementwise.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

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
