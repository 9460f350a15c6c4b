// SPDX-License-Identifier: Apache-2.0
//
// Lowers casts from and to 8-bit floats to arithmetic on bits, because MLIR has
// no lowering of them for processors without such formats. Arithmetic,
// comparisons and matrix products on these formats are done in f32. Only
// f8E4M3FN and f8E5M2 are lowered; other 8-bit formats are left untouched.

#include "Bits.h"
#include "Lowering.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_linalg_ext;

namespace {

/// f8E4M3FN or f8E5M2.
struct Format {
  unsigned mantissa, bias;
  /// Bits without the sign: the smallest ones that are not a finite number,
  /// the result for numbers that are too large, and NaN.
  int64_t infinity, most, nan;
};

} // namespace

static std::optional<Format> formatOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (isa<Float8E4M3FNType>(type))
    return Format{3, 7, 0x7F, 0x7E, 0x7F};
  if (isa<Float8E5M2Type>(type))
    return Format{2, 15, 0x7C, 0x7C, 0x7E};
  return std::nullopt;
}

/// Casts to f32: shifts exponent and mantissa to their places in f32, and
/// multiplies by 2^(127 - bias), because the exponent is then too low by the
/// difference of the biases. The product is right for subnormal numbers, too:
/// they are subnormal in f32 before it, and exact after it.
static Value toF32(const Bits &bits, Value value, const Format &format) {
  OpBuilder &builder = bits.builder;
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  Value wide = arith::ExtUIOp::create(builder, bits.loc, bits.of(i32),
                                      bits.cast(value, builder.getI8Type()));
  Value magnitude = bits.binary<arith::AndIOp>(wide, bits.integer(0x7F));
  Value aligned =
      bits.binary<arith::ShLIOp>(magnitude, bits.integer(23 - format.mantissa));
  Value number =
      bits.cast(bits.binary<arith::MulFOp>(bits.cast(aligned, f32),
                                           bits.f32(127 - format.bias)),
                i32);
  // Infinity and NaN in e5m2, only NaN in e4m3: all bits of the exponent are 1
  // in f32.
  Value special = bits.binary<arith::OrIOp>(aligned, bits.integer(0x7F800000));
  number = bits.select(arith::CmpIPredicate::uge, magnitude,
                       bits.integer(format.infinity), special, number);
  Value sign = bits.binary<arith::ShLIOp>(
      bits.binary<arith::AndIOp>(wide, bits.integer(0x80)), bits.integer(24));
  return bits.cast(bits.binary<arith::OrIOp>(number, sign), f32);
}

/// Casts from f32, to the nearest number and on a tie to the even one. A number
/// that is too large becomes infinity in e5m2 and the greatest number in e4m3,
/// which has no infinity; processors with these formats do the same.
static Value fromF32(const Bits &bits, Value value, const Format &format,
                     Type type) {
  OpBuilder &builder = bits.builder;
  Type i8 = builder.getI8Type(), i32 = builder.getI32Type();
  Value wide = bits.cast(value, i32);
  Value magnitude = bits.binary<arith::AndIOp>(wide, bits.integer(0x7FFFFFFF));
  unsigned dropped = 23 - format.mantissa;
  // Normal numbers: adding half of the last kept place, or one less than that
  // if the last kept bit is even, rounds to nearest even when the dropped bits
  // are shifted out.
  Value last = bits.binary<arith::AndIOp>(
      bits.binary<arith::ShRUIOp>(magnitude, bits.integer(dropped)),
      bits.integer(1));
  int64_t rebias = (int64_t(format.bias) - 127) * (1 << 23);
  Value normal = bits.binary<arith::AddIOp>(
      bits.binary<arith::AddIOp>(magnitude, last),
      bits.integer(rebias + (1 << (dropped - 1)) - 1));
  normal = bits.binary<arith::ShRUIOp>(normal, bits.integer(dropped));
  // Subnormal numbers: adding a number whose last place in f32 is the least
  // subnormal number makes f32 round to a multiple of that.
  int least = 1 - int(format.bias) - int(format.mantissa);
  Value unit = bits.f32(least + 23);
  Value small = bits.cast(bits.binary<arith::AddFOp>(
                              bits.cast(magnitude, builder.getF32Type()), unit),
                          i32);
  small = bits.binary<arith::SubIOp>(small, bits.cast(unit, i32));
  Value leastNormal = bits.cast(bits.f32(1 - int(format.bias)), i32);
  Value result = bits.select(arith::CmpIPredicate::ult, magnitude, leastNormal,
                             small, normal);
  result = bits.binary<arith::MinUIOp>(result, bits.integer(format.most));
  result =
      bits.select(arith::CmpIPredicate::ugt, magnitude,
                  bits.integer(0x7F800000), bits.integer(format.nan), result);
  Value sign = bits.binary<arith::AndIOp>(
      bits.binary<arith::ShRUIOp>(wide, bits.integer(24)), bits.integer(0x80));
  Value narrow = arith::TruncIOp::create(
      builder, bits.loc, bits.of(i8), bits.binary<arith::OrIOp>(result, sign));
  return bits.cast(narrow, type);
}

/// Returns whether the operation is a matrix product with an operand of these
/// formats. Its body casts the operands implicitly, so no pattern for casts
/// would match.
static bool isFloat8Product(Operation *op) {
  return isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) &&
         llvm::any_of(op->getOperandTypes(), [](Type type) {
           return isa<TensorType>(type) && formatOf(type);
         });
}

/// Returns whether the operation computes with these formats, rather than only
/// moving or casting them.
static bool isFloat8Arithmetic(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      isa<arith::BitcastOp, arith::ConstantOp, arith::ConvertFOp, arith::ExtFOp,
          arith::ScalingExtFOp, arith::ScalingTruncFOp, arith::SelectOp,
          arith::TruncFOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), isFloat8) ||
         llvm::any_of(op->getResultTypes(), isFloat8);
}

bool mlir::triton_ext::lower_linalg_ext::isFloat8(Type type) {
  return formatOf(type).has_value();
}

bool mlir::triton_ext::lower_linalg_ext::usesFloat8(Operation *op) {
  if (isFloat8Product(op) || isFloat8Arithmetic(op))
    return true;
  if (auto extend = dyn_cast<arith::ExtFOp>(op))
    return isFloat8(extend.getIn().getType());
  auto truncate = dyn_cast<arith::TruncFOp>(op);
  return truncate && isFloat8(truncate.getType()) &&
         truncate.getRoundingmode().value_or(
             arith::RoundingMode::to_nearest_even) ==
             arith::RoundingMode::to_nearest_even;
}

namespace {

struct ExtendPattern : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!usesFloat8(op))
      return failure();
    Value in = op.getIn();
    Bits bits{rewriter, op.getLoc(), in.getType()};
    Value number = toF32(bits, in, *formatOf(in.getType()));
    unsigned width = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
    if (width == 32)
      rewriter.replaceOp(op, number);
    else if (width == 64)
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), number);
    else // f16 and bf16 hold all of them
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), number);
    return success();
  }
};

struct TruncatePattern : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!usesFloat8(op))
      return failure();
    Value in = op.getIn();
    Bits bits{rewriter, op.getLoc(), in.getType()};
    Type f32 = rewriter.getF32Type(), from = getElementTypeOrSelf(in.getType());
    if (from.isF64())
      in = toOdd(bits, in);
    else if (from != f32)
      in = bits.extend(in, f32);
    rewriter.replaceOp(op, fromF32(bits, in, *formatOf(op.getType()),
                                   getElementTypeOrSelf(op.getType())));
    return success();
  }
};

/// Replaces an operation by the same operation on f32, whose result is rounded
/// afterwards. Sums, products and quotients are the same as if rounded once,
/// because f32 has 24 bits of precision, at least 2p + 2 for a result of p
/// bits: p is 4 in e4m3 and 3 in e5m2.
struct ArithmeticPattern : RewritePattern {
  explicit ArithmeticPattern(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isFloat8Arithmetic(op))
      return failure();
    Type f32 = rewriter.getF32Type();
    auto bitsOf = [&](Value value) {
      return Bits{rewriter, op->getLoc(), value.getType()};
    };
    Operation *wide = op->clone();
    for (OpOperand &operand : wide->getOpOperands())
      if (Value value = operand.get(); isFloat8(value.getType()))
        operand.set(bitsOf(value).extend(value, f32));
    for (OpResult result : wide->getResults())
      if (isFloat8(result.getType()))
        result.setType(bitsOf(result).of(f32));
    rewriter.insert(wide);
    SmallVector<Value> results(wide->getResults());
    for (auto [result, type] : llvm::zip(results, op->getResultTypes()))
      if (isFloat8(type))
        result = bitsOf(result).truncate(result, getElementTypeOrSelf(type));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Casts the operands to f32, which represents all of their values exactly.
template <typename OpTy> struct ProductPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isFloat8Product(op))
      return failure();
    Location loc = op.getLoc();
    SmallVector<Value> inputs(op.getInputs());
    for (Value &input : inputs) {
      auto type = cast<RankedTensorType>(input.getType());
      if (!formatOf(type))
        continue;
      RankedTensorType wide = type.clone(rewriter.getF32Type());
      Value empty = tensor::EmptyOp::create(
          rewriter, loc, tensor::getMixedSizes(rewriter, loc, input),
          wide.getElementType());
      input = linalg::MapOp::create(
                  rewriter, loc, input, empty,
                  [&](OpBuilder &builder, Location loc, ValueRange elements) {
                    Value number = arith::ExtFOp::create(
                        builder, loc, wide.getElementType(), elements[0]);
                    linalg::YieldOp::create(builder, loc, number);
                  })
                  ->getResult(0);
    }
    rewriter.replaceOpWithNewOp<OpTy>(op, op->getResultTypes(), inputs,
                                      op.getOutputs());
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateFloat8Patterns(
    RewritePatternSet &patterns) {
  patterns.add<ArithmeticPattern, ExtendPattern,
               ProductPattern<linalg::BatchMatmulOp>,
               ProductPattern<linalg::MatmulOp>, TruncatePattern>(
      patterns.getContext());
}
