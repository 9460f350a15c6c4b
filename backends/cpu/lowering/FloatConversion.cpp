// SPDX-License-Identifier: Apache-2.0
//
// Converts floats in integer arithmetic if x86 has no instruction, if the
// instruction flushes denormals (bf16), or if LLVM would call a library (f64 to
// f16).

#include "FloatConversion.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// An 8-bit format: the bits of the mantissa, the bias of the exponent, and the
/// codes of the largest number and of NaN. Numbers that are too large become
/// the largest. A format whose NaN is the sign bit alone (0x80) has neither -0
/// nor another NaN.
struct FloatConversion::Float8 {
  int mantissa, bias;
  int64_t largest, nan;
  bool isSignNan() const { return nan == 0x80; }
  bool hasInfinity() const { return largest + 1 != nan && !isSignNan(); }
  /// The largest code without a sign that is not NaN.
  int64_t largestNotNan() const { return largest + hasInfinity(); }
};

std::optional<FloatConversion::Float8> FloatConversion::float8(Type type) {
  if (isa<Float8E5M2Type>(type))
    return Float8{2, 15, 0x7b, 0x7f};
  if (isa<Float8E4M3FNType>(type))
    return Float8{3, 7, 0x7e, 0x7f};
  if (isa<Float8E5M2FNUZType>(type))
    return Float8{2, 16, 0x7f, 0x80};
  if (isa<Float8E4M3FNUZType>(type))
    return Float8{3, 8, 0x7f, 0x80};
  return std::nullopt;
}

/// Converts by way of f16, which has every number of the format but for a
/// factor. Multiplying denormal f32 would take a hundred cycles or more; the
/// instruction that widens f16 takes denormals as it takes other numbers.
Value FloatConversion::fromFloat8ByHalf(Value bits, const Float8 &format) {
  Type i8 = bits.getType(), i16 = like(bits, b.getI16Type());
  Type f16 = like(bits, b.getF16Type()), f32 = like(bits, b.getF32Type());
  constexpr int mantissaOfHalf = 10, biasOfHalf = 15;
  int shift = mantissaOfHalf - format.mantissa;
  // The extended sign bits reach bit 15; the mask keeps this one of them.
  Value half = arith::ShLIOp::create(b, arith::ExtSIOp::create(b, i16, bits),
                                     b.constant(i16, shift));
  half =
      arith::AndIOp::create(b, half, b.constant(i16, 0x8000 | (0x7f << shift)));
  Value isNan;
  if (format.isSignNan()) {
    isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bits,
                                  b.constant(i8, format.nan));
  } else {
    Value magnitude = arith::AndIOp::create(b, bits, b.constant(i8, 0x7f));
    isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                                  b.constant(i8, format.largestNotNan()));
  }
  Value nan = arith::OrIOp::create(
      b, arith::AndIOp::create(b, half, b.constant(i16, 0x8000)),
      b.constant(i16, 0x7e00));
  half = arith::SelectOp::create(b, isNan, nan, half);
  half = arith::BitcastOp::create(b, f16, half);
  Value number = arith::ExtFOp::create(b, f32, half);
  if (format.bias == biasOfHalf)
    return number;
  return arith::MulFOp::create(
      b, number,
      b.floatConstant(f32, std::ldexp(1.0, biasOfHalf - format.bias)));
}

Value FloatConversion::fromFloat8(Value bits, Type type) {
  Float8 format = *float8(type);
  // Every processor with FMA converts f16. An exponent of 31 is not a number's
  // in f16, but it is in the format with the bias 16.
  if (context.target.hasFma && format.bias <= 15)
    return fromFloat8ByHalf(bits, format);
  Type i32 = like(bits, b.getI32Type()), f32 = like(bits, b.getF32Type());
  Value wide = arith::ExtUIOp::create(b, i32, bits);
  Value magnitude = arith::AndIOp::create(b, wide, b.constant(i32, 0x7f));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, wide, b.constant(i32, 0x80)),
      b.constant(i32, 24));
  // Shift exponent and mantissa to their places in f32, then multiply to change
  // the bias. This is exact, also for denormals.
  Value number = arith::BitcastOp::create(
      b, f32,
      arith::ShLIOp::create(b, magnitude,
                            b.constant(i32, 23 - format.mantissa)));
  number = arith::MulFOp::create(
      b, number, b.floatConstant(f32, std::ldexp(1.0, 127 - format.bias)));
  Value numberBits = arith::BitcastOp::create(b, i32, number);
  auto special = [&](int64_t from, int64_t to) {
    Value isIt = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, magnitude,
                                       b.constant(i32, from));
    numberBits =
        arith::SelectOp::create(b, isIt, b.constant(i32, to), numberBits);
  };
  if (format.isSignNan()) {
    Value isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wide,
                                        b.constant(i32, format.nan));
    numberBits = arith::SelectOp::create(b, isNan, b.constant(i32, 0x7fc00000),
                                         numberBits);
  } else if (isa<Float8E5M2Type>(type)) {
    special(0x7c, 0x7f800000);
    special(0x7d, 0x7fc00000);
  } else {
    special(0x7f, 0x7fc00000);
  }
  return arith::BitcastOp::create(b, f32,
                                  arith::OrIOp::create(b, numberBits, sign));
}

Value FloatConversion::toFloat8(Value value, Type type, bool rtz) {
  Float8 format = *float8(type);
  Type i32 = like(value, b.getI32Type()), f32 = value.getType();
  Value bits = arith::BitcastOp::create(b, i32, value);
  Value magnitude = arith::AndIOp::create(b, bits, b.constant(i32, 0x7fffffff));
  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bits, b.constant(i32, 24)),
      b.constant(i32, 0x80));
  int shift = 23 - format.mantissa;
  Value rounded = magnitude;
  if (!rtz) {
    Value odd = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, magnitude, b.constant(i32, shift)),
        b.constant(i32, 1));
    rounded = arith::AddIOp::create(
        b,
        arith::AddIOp::create(b, magnitude,
                              b.constant(i32, (1 << (shift - 1)) - 1)),
        odd);
  }
  Value normal = arith::ShRUIOp::create(
      b,
      arith::SubIOp::create(b, rounded,
                            b.constant(i32, int64_t(127 - format.bias) << 23)),
      b.constant(i32, shift));
  // A denormal result is a multiple of the smallest denormal: count these.
  Value absolute = arith::BitcastOp::create(b, f32, magnitude);
  Value denormal;
  if (rtz) {
    Value count = arith::MulFOp::create(
        b, absolute,
        b.floatConstant(f32,
                        std::ldexp(1.0, format.bias + format.mantissa - 1)));
    denormal = b.intrinsic("llvm.fptosi.sat", i32, {count});
  } else {
    Value magic = b.floatConstant(
        f32, std::ldexp(1.0, 1 - format.bias - format.mantissa + 23));
    Value sum = arith::AddFOp::create(b, absolute, magic);
    denormal = arith::SubIOp::create(b, arith::BitcastOp::create(b, i32, sum),
                                     arith::BitcastOp::create(b, i32, magic));
  }
  auto less = [&](int64_t limit) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, magnitude,
                                 b.constant(i32, limit));
  };
  Value result = arith::SelectOp::create(
      b, less(int64_t(127 - format.bias + 1) << 23), denormal, normal);
  Value largest = b.constant(i32, format.largest);
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, result, largest);
  fits = arith::AndIOp::create(b, fits, less(0x7f800000));
  result = arith::SelectOp::create(b, fits, result, largest);
  if (format.isSignNan()) {
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, result,
                                         b.constant(i32, 0));
    sign = arith::SelectOp::create(b, isZero, b.constant(i32, 0), sign);
  }
  result = arith::SelectOp::create(b, less(0x7f800001), result,
                                   b.constant(i32, format.nan));
  return arith::TruncIOp::create(b, like(value, b.getI8Type()),
                                 arith::OrIOp::create(b, result, sign));
}

Value FloatConversion::convert(Operation *op, Value value, Type from, Type to,
                               bool rtz) {
  if (from == to)
    return value;
  Type f32 = b.getF32Type(), i32 = like(value, b.getI32Type());
  Type i16 = like(value, b.getI16Type());
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  unsigned toWidth = to.getIntOrFloatBitWidth();
  for (Type type : {from, to})
    if (type.getIntOrFloatBitWidth() == 8 && !float8(type))
      return context.error(
          op, "this 8-bit type is not supported on the CPU; fp8e4nv, "
              "fp8e5, fp8e4b8 and fp8e5b16 are");

  // Convert to f32 first, which is exact except from f64, and from there to
  // `to`.
  if (fromWidth == 8)
    return convert(op, fromFloat8(value, from), f32, to, rtz);
  if (from.isBF16()) {
    Value bits = arith::ExtUIOp::create(b, i32, value);
    Value wide = arith::BitcastOp::create(
        b, like(value, f32),
        arith::ShLIOp::create(b, bits, b.constant(i32, 16)));
    return convert(op, wide, f32, to, rtz);
  }
  if (from.isF16() && !to.isF64() && !to.isF32())
    return convert(op, arith::ExtFOp::create(b, like(value, f32), value), f32,
                   to, rtz);
  if (toWidth > fromWidth)
    return arith::ExtFOp::create(b, like(value, to), value);

  // Corrects `nearest`, which is `value` rounded to the nearest, to `value`
  // rounded toward zero or, with `toOdd`, to odd.
  auto towardZero = [&](Value nearest, Type bitsType, bool toOdd) {
    Value back = arith::ExtFOp::create(b, value.getType(), nearest);
    Value farther = arith::CmpFOp::create(
        b, arith::CmpFPredicate::OGT,
        b.intrinsic("llvm.fabs", value.getType(), {back}),
        b.intrinsic("llvm.fabs", value.getType(), {value}));
    Value bits = arith::BitcastOp::create(b, bitsType, nearest);
    bits = arith::SelectOp::create(
        b, farther, arith::SubIOp::create(b, bits, b.constant(bitsType, 1)),
        bits);
    if (toOdd) {
      Value inexact =
          arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
      bits = arith::SelectOp::create(
          b, inexact, arith::OrIOp::create(b, bits, b.constant(bitsType, 1)),
          bits);
    }
    return Value(arith::BitcastOp::create(b, nearest.getType(), bits));
  };
  if (from.isF64()) {
    Value nearest = arith::TruncFOp::create(b, like(value, f32), value);
    if (to.isF32())
      return rtz ? towardZero(nearest, i32, false) : nearest;
    // Rounding to odd keeps a sticky bit, so that the second rounding is
    // correct.
    return convert(op, towardZero(nearest, i32, true), f32, to, rtz);
  }
  assert(from.isF32());
  if (to.isF16()) {
    Value nearest = arith::TruncFOp::create(b, like(value, to), value);
    return rtz ? towardZero(nearest, i16, false) : nearest;
  }
  if (to.isBF16()) {
    Value bits = arith::BitcastOp::create(b, i32, value);
    Value rounded = bits;
    if (!rtz) {
      Value odd = arith::AndIOp::create(
          b, arith::ShRUIOp::create(b, bits, b.constant(i32, 16)),
          b.constant(i32, 1));
      rounded = arith::AddIOp::create(
          b, arith::AddIOp::create(b, bits, b.constant(i32, 0x7fff)), odd);
    }
    Value isNan =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
    rounded = arith::SelectOp::create(
        b, isNan, arith::OrIOp::create(b, bits, b.constant(i32, 0x400000)),
        rounded);
    return arith::TruncIOp::create(
        b, i16, arith::ShRUIOp::create(b, rounded, b.constant(i32, 16)));
  }
  return toFloat8(value, to, rtz);
}
