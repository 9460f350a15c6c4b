// SPDX-License-Identifier: Apache-2.0
//
// Folders and canonicalization patterns of the dialect `math_ext`.

#include "MathExt.h"

#include "mlir/Dialect/CommonFolders.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include "MathExt.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext::math_ext;

Operation *MathExtDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

OpFoldResult MulhiUIOp::fold(FoldAdaptor adaptor) {
  // MLIR moves a constant operand of a commutative operation to the right. The
  // high half of a product with 0 or 1 is 0.
  if (matchPattern(adaptor.getRhs(), m_Zero()))
    return getRhs();
  if (matchPattern(adaptor.getRhs(), m_One()))
    return Builder(getContext()).getZeroAttr(getType());
  return constFoldBinaryOp<IntegerAttr>(
      adaptor.getOperands(), [](const APInt &lhs, const APInt &rhs) {
        unsigned width = lhs.getBitWidth();
        return (lhs.zext(2 * width) * rhs.zext(2 * width))
            .extractBits(width, width);
      });
}

/// A product with 2^k is a left shift by k, and its high half holds the k bits
/// that are shifted out. So the high half is `lhs` shifted right by width - k.
/// k = 0 is excluded, because a shift by the whole width is poison.
LogicalResult MulhiUIOp::canonicalize(MulhiUIOp op, PatternRewriter &rewriter) {
  APInt factor;
  if (!matchPattern(op.getRhs(), m_ConstantInt(&factor)) ||
      !factor.isPowerOf2() || factor.isOne())
    return failure();
  unsigned width = factor.getBitWidth();
  TypedAttr amount = rewriter.getIntegerAttr(getElementTypeOrSelf(op.getType()),
                                             width - factor.logBase2());
  if (auto type = dyn_cast<ShapedType>(op.getType()))
    amount = DenseElementsAttr::get(type, cast<IntegerAttr>(amount).getValue());
  Value shift = arith::ConstantOp::create(rewriter, op.getLoc(), amount);
  rewriter.replaceOpWithNewOp<arith::ShRUIOp>(op, op.getLhs(), shift);
  return success();
}
