// SPDX-License-Identifier: Apache-2.0
//
// Functions of libdevice on floats: powers of two, norms, roots, sines of
// multiples of pi, and special functions. A function of f32 that is easy to
// compute in f64 is vector code. The others call the C library or the runtime
// (runtime/SpecialFunctions.cpp) lane by lane, in f64.

#include "Libdevice.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

using I = arith::CmpIPredicate;
using P = arith::CmpFPredicate;

/// Functions of the binary exponent, and 1 / x in the upper half of f64.
Value LibdeviceEmitter::powersOfTwo(StringRef name) {
  Type i64 = typeOf(b.getI64Type());
  auto constant = [&](int64_t value) { return b.constant(i64, value); };
  if (name == "ldexp" || name == "scalbn")
    return math.callScalar("ldexp", operands, result);
  if (name == "ldexpf" || name == "scalbnf") {
    // In f64, the product is exact for powers that leave a number of f32.
    Value power = arg(1);
    auto limit = [&](int64_t value) {
      return b.constant(power.getType(), value);
    };
    power = arith::MaxSIOp::create(b, power, limit(-400));
    power = arith::MinSIOp::create(b, power, limit(400));
    Value exponent = add(extended(power, b.getI64Type(), true), constant(1023));
    Value factor = bitcast(arith::ShLIOp::create(b, exponent, constant(52)),
                           typeOf(b.getF64Type()));
    return narrow(fmul(wide(0), factor));
  }
  if (name == "ilogb")
    return math.callScalar("ilogb", operands, result);
  if (name == "ilogbf") {
    // Denormal numbers of f32 are normal in f64.
    Value bits = bitcast(absolute(wide(0)), i64);
    Value exponent = arith::TruncIOp::create(
        b, result, sub(shift(bits, 52, false), constant(1023)));
    Value x = absolute(arg(0));
    auto is = [&](P predicate, double value) -> Value {
      return arith::CmpFOp::create(b, predicate, x,
                                   b.floatConstant(x.getType(), value));
    };
    exponent =
        select(is(P::OEQ, INFINITY), b.constant(result, INT32_MAX), exponent);
    return select(is(P::UEQ, 0), b.constant(result, INT32_MIN), exponent);
  }
  if (name != "rcp64h")
    return {};
  // The lower halves of the argument and of the result are 0, and so are
  // denormal numbers.
  Value x = bitcast(band(bitcast(arg(0), i64), constant(-(int64_t(1) << 32))),
                    result);
  auto flushed = [&](Value value) {
    Value isSmall = is(P::OLT, absolute(value), number(0x1p-1022));
    Value zero = b.intrinsic("llvm.copysign", result, {number(0), value});
    return select(isSmall, zero, value);
  };
  Value reciprocal = bitcast(flushed(fdiv(number(1), flushed(x))), i64);
  return bitcast(band(reciprocal, constant(-(int64_t(1) << 32))), result);
}

/// Returns the root of the sum of squares, or its reciprocal. It is infinite if
/// an operand is, even where another one is NaN.
Value LibdeviceEmitter::norm(bool isReciprocal) {
  Value sum, isInfinite;
  for (int i = 0, e = operands.size(); i < e; ++i) {
    Value x = wide(i), square = fmul(x, x);
    Value here = is(P::OEQ, absolute(x), number(INFINITY));
    sum = sum ? fadd(sum, square) : square;
    isInfinite = isInfinite ? bor(isInfinite, here) : here;
  }
  Value root = b.intrinsic("llvm.sqrt", sum.getType(), {sum});
  root = select(isInfinite, number(INFINITY), root);
  return narrow(isReciprocal ? fdiv(number(1), root) : root);
}

/// Returns the sine or cosine of pi * x. The quadrant and the rest of x are
/// exact.
Value LibdeviceEmitter::sineOfPi(bool isCosine) {
  Type f64 = typeOf(b.getF64Type()), i32 = typeOf(b.getI32Type());
  auto round = [&](Value v) { return b.intrinsic("llvm.rint", f64, {v}); };
  auto constant = [&](int64_t value) { return b.constant(i32, value); };
  Value x = wide(0);
  // Without whole turns: `turn` is in [-1, 1].
  Value turn = fsub(x, fmul(round(fmul(x, number(0.5))), number(2)));
  Value quarters = round(fmul(turn, number(2)));
  Value rest =
      fmul(fsub(turn, fmul(quarters, number(0.5))), number(3.141592653589793));
  Value square = fmul(rest, rest);
  auto series = [&](int last) {
    // Terms of Taylor's series from the power `last` down to the second last.
    Value sum;
    for (int k = last; k >= 0; k -= 2) {
      double term = k / 2 % 2 ? -1 : 1;
      for (int i = 2; i <= k; ++i)
        term /= i;
      sum = sum ? b.intrinsic("llvm.fma", f64, {sum, square, number(term)})
                : number(term);
    }
    return sum;
  };
  Value sine = fmul(series(11), rest), cosine = series(12);
  // A NaN or an infinity has no quadrant; its rest is NaN.
  Value known = is(P::ORD, turn, turn);
  Value quadrant =
      arith::FPToSIOp::create(b, i32, select(known, quarters, number(0)));
  if (isCosine)
    quadrant = add(quadrant, constant(1));
  auto isSet = [&](int64_t bit) -> Value {
    return arith::CmpIOp::create(b, I::ne, band(quadrant, constant(bit)),
                                 constant(0));
  };
  Value value = select(isSet(1), cosine, sine);
  value = select(isSet(2), negative(value), value);
  // A zero of the sine has the sign of x, and a zero of the cosine is +0.
  Value isZero = is(P::OEQ, value, number(0));
  Value zero =
      isCosine ? number(0) : b.intrinsic("llvm.copysign", f64, {number(0), x});
  return narrow(select(isZero, zero, value));
}

/// Returns x^(-1/3): an estimate from the bits of x, and Newton's method.
Value LibdeviceEmitter::reciprocalCubeRoot() {
  Type i64 = typeOf(b.getI64Type()), i32 = typeOf(b.getI32Type());
  Value x = wide(0), magnitude = absolute(x);
  // The upper half of the bits of a number is about c + 2^20 log2(number),
  // where c is the upper half of 1. So that of the root is 4/3 c - bits / 3.
  // The constant is 1/16 of an octave smaller, which takes the largest error of
  // the estimate from 8.2 % to 3.7 %.
  Value high = arith::TruncIOp::create(
      b, i32, shift(bitcast(magnitude, i64), 32, false));
  Value third = arith::DivUIOp::create(b, high, b.constant(i32, 3));
  Value guess = sub(b.constant(i32, 0x553f0000), third);
  guess = arith::ShLIOp::create(b, extended(guess, b.getI64Type(), false),
                                b.constant(i64, 32));
  Value y = bitcast(guess, x.getType());
  for (int i = 0; i < 4; ++i) {
    Value error = fsub(number(1), fmul(fmul(magnitude, y), fmul(y, y)));
    y = fadd(y, fmul(y, fmul(error, number(1.0 / 3))));
  }
  Value isSpecial = bor(is(P::UEQ, magnitude, number(INFINITY)),
                        is(P::OEQ, magnitude, number(0)));
  y = select(isSpecial, fdiv(number(1), magnitude), y);
  return narrow(b.intrinsic("llvm.copysign", x.getType(), {y, x}));
}

/// Functions of f32 that f64 computes as vectors.
Value LibdeviceEmitter::ofSingle(StringRef name) {
  if (!getElementTypeOrSelf(result).isF32())
    return {};
  if (name == "frsqrt_rn") {
    Value x = wide(0);
    return narrow(fdiv(number(1), b.intrinsic("llvm.sqrt", x.getType(), {x})));
  }
  if (name == "norm3df" || name == "norm4df")
    return norm(false);
  if (name == "rnorm3df" || name == "rnorm4df" || name == "rhypotf")
    return norm(true);
  if (name == "sinpif" || name == "cospif")
    return sineOfPi(name == "cospif");
  return name == "rcbrtf" ? reciprocalCubeRoot() : Value();
}

/// Functions that are called lane by lane, in f64.
Value LibdeviceEmitter::special(StringRef name) {
  bool isSingle = getElementTypeOrSelf(result).isF32();
  Type f64 = typeOf(b.getF64Type());
  if (isSingle && !name.consume_back("f"))
    return {};
  SmallVector<Value> arguments;
  for (Value operand : operands)
    arguments.push_back(getElementTypeOrSelf(operand.getType()).isF32()
                            ? arith::ExtFOp::create(b, f64, operand)
                            : operand);
  auto returned = [&](Value value) { return isSingle ? narrow(value) : value; };
  if (name == "powi") {
    arguments[1] = arith::SIToFPOp::create(b, f64, arguments[1]);
    return returned(math.callScalar("pow", arguments, f64));
  }
  if (name == "jn" || name == "yn") {
    Value isNegative = arith::CmpIOp::create(b, I::slt, arg(0), constant(0));
    Value value = math.callScalar(name, arguments, f64);
    return returned(select(isNegative, number(NAN), value));
  }
  bool isOfRuntime =
      llvm::StringSwitch<bool>(name)
          .Cases({"erfcx", "erfinv", "erfcinv", "normcdf", "normcdfinv"}, true)
          .Cases({"cyl_bessel_i0", "cyl_bessel_i1", "rcbrt", "rhypot"}, true)
          .Cases({"norm3d", "norm4d", "rnorm3d", "rnorm4d"}, true)
          .Cases({"sinpi", "cospi"}, true)
          .Default(false);
  if (!isOfRuntime)
    return {};
  // The runtime computes functions of f32 in f64 itself, in one call.
  std::string symbol = ("triton_ext_cpu_" + name + (isSingle ? "f" : "")).str();
  return math.callScalar(symbol, operands, result);
}
