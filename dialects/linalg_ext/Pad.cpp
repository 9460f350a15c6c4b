// SPDX-License-Identifier: Apache-2.0
//
// The operation `pad`: builder, verifier and canonicalization.

#include "Builders.h"
#include "Checks.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

SmallVector<OpFoldResult> PadOp::getMixedLow() {
  return getMixedValues(getStaticLow(), getLow(), getContext());
}

SmallVector<OpFoldResult> PadOp::getMixedHigh() {
  return getMixedValues(getStaticHigh(), getHigh(), getContext());
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value input,
                  Value init, Value pvalue, ArrayRef<OpFoldResult> low,
                  ArrayRef<OpFoldResult> high) {
  SmallVector<int64_t> staticLow, staticHigh;
  SmallVector<Value> lowValues, highValues;
  dispatchIndexOpFoldResults(low, lowValues, staticLow);
  dispatchIndexOpFoldResults(high, highValues, staticHigh);
  state.addOperands({input, init, pvalue});
  state.addOperands(lowValues);
  state.addOperands(highValues);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.static_low = builder.getDenseI64ArrayAttr(staticLow);
  properties.static_high = builder.getDenseI64ArrayAttr(staticHigh);
  llvm::copy(ArrayRef<int32_t>({1, 1, 1, int32_t(lowValues.size()),
                                int32_t(highValues.size())}),
             properties.operandSegmentSizes.begin());
  Type storage;
  state.addTypes(resultOf(init, storage));
  addBody(builder, state, shaped(input).getElementType());
}

/// Returns whether margins and input can add up to the size of the init.
/// Dynamic sizes are not negative, so a sum of the static ones that is too
/// large is an error.
static bool addUp(int64_t low, int64_t size, int64_t high, int64_t whole) {
  if (ShapedType::isDynamic(whole))
    return true;
  bool known = true;
  // 128 bits, because a sum of three sizes can exceed 64 bits.
  APInt sum(128, 0);
  for (int64_t part : {low, size, high}) {
    known &= !ShapedType::isDynamic(part);
    if (!ShapedType::isDynamic(part))
      sum += part;
  }
  return known ? sum == whole : sum.ule(whole);
}

LogicalResult PadOp::verify() {
  ShapedType from = shaped(getInput()), to = shaped(getInit());
  Type element = to.getElementType();
  if (from.getRank() != to.getRank())
    return emitOpError() << "expected input and init of one rank, got " << from
                         << " and " << to;
  if (getPvalue().getType() != element)
    return emitOpError() << "expected a pvalue of type " << element << ", got "
                         << getPvalue().getType();
  if (failed(checkBody(*this, getBody(), from.getElementType(), element)))
    return failure();
  size_t rank = from.getRank();
  if (getStaticLow().size() != rank || getStaticHigh().size() != rank)
    return emitOpError() << "expected " << rank << " numbers in low and high, "
                         << "got " << getStaticLow().size() << " and "
                         << getStaticHigh().size();
  for (auto [dim, low, high] :
       llvm::enumerate(getStaticLow(), getStaticHigh())) {
    if ((!ShapedType::isDynamic(low) && low < 0) ||
        (!ShapedType::isDynamic(high) && high < 0))
      return emitOpError() << "expected margins that are not negative in "
                           << "dimension " << dim;
    int64_t size = from.getDimSize(dim), whole = to.getDimSize(dim);
    if (addUp(low, size, high, whole))
      continue;
    auto text = [](int64_t number) {
      return ShapedType::isDynamic(number) ? "?" : std::to_string(number);
    };
    return emitOpError() << "expected " << whole << " elements in dimension "
                         << dim << ", got " << text(low) << " + " << text(size)
                         << " + " << text(high);
  }
  return success();
}

/// Returns whether the body yields its first argument.
static bool isIdentity(Region &body) {
  auto yield = cast<YieldOp>(body.front().back());
  return yield.getNumOperands() == 1 &&
         yield.getOperand(0) == body.front().getArgument(0);
}

namespace {
/// Replaces a pad without margins by its input.
struct NoMargins : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    auto isZero = [](OpFoldResult value) {
      return isConstantIntValue(value, 0);
    };
    if (!op.getResult() ||
        op.getInput().getType() != op.getResult().getType() ||
        !isIdentity(op.getBody()) || !llvm::all_of(op.getMixedLow(), isZero) ||
        !llvm::all_of(op.getMixedHigh(), isZero))
      return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

/// Replaces margins that are constants by static numbers.
struct NumbersForConstantMargins : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    auto toNumbers = [&](SmallVector<OpFoldResult> values) {
      for (OpFoldResult &value : values) {
        std::optional<int64_t> number = getConstantIntValue(value);
        // A negative margin is undefined behaviour as a value, but an invalid
        // operation as a static number.
        if (!isa<Value>(value) || !number || *number < 0)
          continue;
        value = rewriter.getIndexAttr(*number);
        changed = true;
      }
      return values;
    };
    auto low = toNumbers(op.getMixedLow());
    auto high = toNumbers(op.getMixedHigh());
    if (!changed || !wouldVerify(op, low, high))
      return failure();
    auto pad = PadOp::create(rewriter, op.getLoc(), op.getInput(), op.getInit(),
                             op.getPvalue(), low, high);
    rewriter.eraseBlock(&pad.getBody().front());
    rewriter.inlineRegionBefore(op.getBody(), pad.getBody(),
                                pad.getBody().end());
    pad->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, pad->getResults());
    return success();
  }

  /// Returns whether the margins add up to the size of the init. If not, the
  /// behaviour is undefined, and static margins would make the operation
  /// invalid.
  static bool wouldVerify(PadOp op, ArrayRef<OpFoldResult> low,
                          ArrayRef<OpFoldResult> high) {
    ShapedType from = shaped(op.getInput()), to = shaped(op.getInit());
    for (int64_t dim = 0; dim < from.getRank(); ++dim) {
      auto number = [](OpFoldResult value) {
        return getConstantIntValue(value).value_or(ShapedType::kDynamic);
      };
      if (!addUp(number(low[dim]), from.getDimSize(dim), number(high[dim]),
                 to.getDimSize(dim)))
        return false;
    }
    return true;
  }
};
} // namespace

void PadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<NoMargins, NumbersForConstantMargins>(context);
}
