// SPDX-License-Identifier: Apache-2.0
//
// Lowers casts that round toward zero, because LLVM's code for x86 rounds to
// nearest even in every mode. A cast becomes one to the nearest number, and a
// step back if that is too far from zero. f64 is cast to f32 before it is cast
// to narrower formats, because rounding toward zero twice gives the same as
// once. Other rounding modes are left untouched.

#include "Bits.h"
#include "Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_linalg_ext;

bool mlir::triton_ext::lower_linalg_ext::roundsTowardZero(Operation *op) {
  auto truncate = dyn_cast<arith::TruncFOp>(op);
  return truncate &&
         truncate.getRoundingmode() == arith::RoundingMode::toward_zero;
}

/// Returns the number of type `element` that is nearest to the value, or its
/// neighbour toward zero if it is farther from zero than the value. The
/// neighbour of infinity is the greatest finite number, so a finite value never
/// becomes infinity. NaN stays, because every comparison with it is false.
static Value towardZero(const Bits &bits, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  auto magnitude = [&](Value number) -> Value {
    return math::AbsFOp::create(bits.builder, bits.loc, number);
  };
  unsigned width = element.getIntOrFloatBitWidth();
  Value nearest = bits.truncate(value, element);
  Value wide = bits.extend(nearest, from);
  Value asBits = bits.cast(nearest, bits.builder.getIntegerType(width));
  Value before =
      bits.binary<arith::SubIOp>(asBits, bits.integer(/*value=*/1, width));
  return bits.cast(bits.select(arith::CmpFPredicate::OGT, magnitude(wide),
                               magnitude(value), before, asBits),
                   element);
}

Value mlir::triton_ext::lower_linalg_ext::toOdd(const Bits &bits, Value value) {
  OpBuilder &builder = bits.builder;
  Type f32 = builder.getF32Type();
  Value rounded = towardZero(bits, value, f32);
  Value asBits = bits.cast(rounded, builder.getI32Type());
  Value odd = bits.binary<arith::OrIOp>(asBits, bits.integer(1));
  return bits.cast(bits.select(arith::CmpFPredicate::UNE,
                               bits.extend(rounded, builder.getF64Type()),
                               value, odd, asBits),
                   f32);
}

namespace {

struct TowardZeroPattern : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!roundsTowardZero(op))
      return failure();
    Value value = op.getIn();
    Type from = getElementTypeOrSelf(value.getType());
    Type to = getElementTypeOrSelf(op.getType());
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(from) ||
        !(isa<Float16Type, BFloat16Type, Float32Type>(to) || isFloat8(to)))
      return op.emitError() << "rounding toward zero from " << from << " to "
                            << to << " is not supported";
    Bits bits{rewriter, op.getLoc(), value.getType()};
    Type f32 = rewriter.getF32Type();
    if (from.isF64() && to != f32)
      value = towardZero(bits, value, f32);
    else if (!from.isF64() && from != f32)
      value = bits.extend(value, f32);
    rewriter.replaceOp(op, towardZero(bits, value, to));
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateRoundingPatterns(
    RewritePatternSet &patterns) {
  patterns.add<TowardZeroPattern>(patterns.getContext());
}
