// SPDX-License-Identifier: Apache-2.0
//
// Canonicalization patterns of the dialect `linalg_ext`. Those of pad are in
// Pad.cpp, that of scalar_assert in LinalgExt.cpp, beside their verifiers.

#include "LinalgExt.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

static ShapedType shapedTypeOf(Value value) {
  return cast<ShapedType>(value.getType());
}

/// Returns the value of all elements of a tensor of i1, if they are known to be
/// the same constant.
static std::optional<bool> getSplatBool(Value tensor) {
  Value source = tensor;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    source = fill.getInputs()[0];
  if (matchPattern(source, m_One()))
    return true;
  if (matchPattern(source, m_Zero()))
    return false;
  return std::nullopt;
}

/// Returns whether all elements of the tensor are known to be the same.
static bool isSplat(Value tensor) {
  SplatElementsAttr constant;
  return tensor.getDefiningOp<linalg::FillOp>() ||
         matchPattern(tensor, m_Constant(&constant));
}

namespace {

/// Drops a mask that is all true. Replaces an operation whose mask is all false
/// by its inits, because it changes nothing.
template <typename OpTy> struct KnownMask : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<bool> known;
    if (op.getMask())
      known = getSplatBool(op.getMask());
    if (!known)
      return failure();
    if (*known) {
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
      return success();
    }
    SmallVector<Value> inits;
    for (OpOperand &init : op.getDpsInitsMutable())
      if (isa<RankedTensorType>(init.get().getType()))
        inits.push_back(init.get());
    rewriter.replaceOp(op, inits);
    return success();
  }
};

/// A reduction of no elements returns its init.
template <typename OpTy> struct EmptyReduction : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    ShapedType type = shapedTypeOf(op.getInput());
    if (llvm::none_of(op.getDimensions(),
                      [&](int64_t dim) { return type.getDimSize(dim) == 0; }))
      return failure();
    if (op.getResult())
      rewriter.replaceOp(op, op.getInit());
    else
      rewriter.eraseOp(op);
    return success();
  }
};

/// A scan copies the first element of each line, so a scan over lines of one
/// element returns its inputs.
struct ScanOfOne : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    ShapedType type = shapedTypeOf(op.getInputs()[0]);
    if (op.isCarried() ||
        (type.getRank() != 0 && type.getDimSize(op.getDimension()) != 1) ||
        op.getInputs().getTypes() != op.getResultTypes())
      return failure();
    rewriter.replaceOp(op, op.getInputs());
    return success();
  }
};

/// Replaces a range of one element by a fill.
struct RangeOfOne : OpRewritePattern<MakeRangeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MakeRangeOp op,
                                PatternRewriter &rewriter) const override {
    if (shapedTypeOf(op.getInit()).getDimSize(0) != 1)
      return failure();
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getStart(),
                                                op.getInit());
    return success();
  }
};

/// Replaces a triangle whose diagonal is above or below the whole array by a
/// fill with ones or zeros.
struct TriOfOneValue : OpRewritePattern<TriOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TriOp op,
                                PatternRewriter &rewriter) const override {
    ShapedType type = shapedTypeOf(op.getInit());
    std::optional<int64_t> diagonal = getConstantIntValue(op.getDiagonal());
    if (!diagonal)
      return failure();
    bool isOnes = !type.isDynamicDim(1) && *diagonal >= type.getDimSize(1) - 1;
    bool isZeros = !type.isDynamicDim(0) && *diagonal <= -type.getDimSize(0);
    if (!isOnes && !isZeros)
      return failure();
    Type element = type.getElementType();
    TypedAttr number =
        isOnes ? rewriter.getOneAttr(element) : rewriter.getZeroAttr(element);
    Value value = arith::ConstantOp::create(rewriter, op.getLoc(), number);
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, op.getInit());
    return success();
  }
};

/// Removes a flip of one element, a flip of equal elements, and two flips in a
/// row along the same dimension.
struct FlipOfNothing : OpRewritePattern<FlipOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FlipOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getResult())
      return failure();
    Value input = op.getInput();
    auto inner = input.getDefiningOp<FlipOp>();
    if (inner && inner.getDimension() == op.getDimension())
      input = inner.getInput();
    else if (shapedTypeOf(input).getDimSize(op.getDimension()) != 1 &&
             !isSplat(input))
      return failure();
    if (input.getType() != op.getResult().getType())
      return failure();
    rewriter.replaceOp(op, input);
    return success();
  }
};

struct AssertOfTrue : OpRewritePattern<AssertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AssertOp op,
                                PatternRewriter &rewriter) const override {
    if (getSplatBool(op.getCondition()) != true &&
        !llvm::is_contained(shapedTypeOf(op.getCondition()).getShape(), 0))
      return failure();
    if (op.getResult())
      rewriter.replaceOp(op, op.getCondition());
    else
      rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<KnownMask<GatherOp>>(context);
}
void ScatterOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<KnownMask<ScatterOp>>(context);
}
void HistogramOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<KnownMask<HistogramOp>>(context);
}
void GatherAtomicRMWOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *context) {
  patterns.add<KnownMask<GatherAtomicRMWOp>>(context);
}
void ReduceSumOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<EmptyReduction<ReduceSumOp>>(context);
}
void ReduceMaxOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<EmptyReduction<ReduceMaxOp>>(context);
}
void ReduceMinOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<EmptyReduction<ReduceMinOp>>(context);
}
void ReduceMaxNanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                 MLIRContext *context) {
  patterns.add<EmptyReduction<ReduceMaxNanOp>>(context);
}
void ReduceMinNanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                 MLIRContext *context) {
  patterns.add<EmptyReduction<ReduceMinNanOp>>(context);
}
void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<ScanOfOne>(context);
}
void MakeRangeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<RangeOfOne>(context);
}
void TriOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<TriOfOneValue>(context);
}
void FlipOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<FlipOfNothing>(context);
}
void AssertOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<AssertOfTrue>(context);
}
