// SPDX-License-Identifier: Apache-2.0
//
// Converts operations of arith on ranked tensors to linalg.map and linalg.fill.
// Other operations are left untouched.

#include "linalg_ext/MapElementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#define DEBUG_TYPE "triton-ext-convert-arith-to-linalg"

namespace mlir::triton_ext::convert_arith_to_linalg {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CONVERTARITHTOLINALGPASS
#include "ConvertArithToLinalg.h.inc"
} // namespace mlir::triton_ext::convert_arith_to_linalg

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

/// Returns whether a select chooses one of two whole tensors.
static bool selectsWhole(Operation *op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  return select && !isa<ShapedType>(select.getCondition().getType());
}

/// Replaces a splat constant by a fill.
static void fillConstant(arith::ConstantOp op, RewriterBase &rewriter) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  auto elements = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!type || !elements)
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value value = arith::ConstantOp::create(rewriter, loc,
                                          elements.getSplatValue<TypedAttr>());
  Value init = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                       type.getElementType());
  rewriter.replaceOp(op, linalg::FillOp::create(rewriter, loc, value, init));
}

namespace {
struct ConvertArithToLinalgPass
    : mlir::triton_ext::convert_arith_to_linalg::impl::
          ConvertArithToLinalgPassBase<ConvertArithToLinalgPass> {
  using ConvertArithToLinalgPassBase::ConvertArithToLinalgPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
        return;
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        fillConstant(constant, rewriter);
      else if (isElementwiseOnTensors(op) && !selectsWhole(op))
        mapElementwise(op, rewriter);
    });
  }
};
} // namespace
