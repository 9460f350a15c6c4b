// SPDX-License-Identifier: Apache-2.0
//
// Casts that round toward zero as ones to the nearest and a step back: LLVM's
// code for x86 rounds to the nearest even whatever the operation says. Numbers
// of f64 reach narrower formats by f32, which loses nothing on the way to zero.
// Other modes are left untouched.

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

/// The nearest number, or the one before it where that is farther from zero
/// than the value. An infinity that the value is not becomes the greatest
/// number; NaN is not farther from zero than anything.
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
