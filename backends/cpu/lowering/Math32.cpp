// SPDX-License-Identifier: Apache-2.0
//
// Mathematical functions of f32 as vector code: argument reduction and a
// polynomial. Errors are within the bounds that docs/cpu.md states and the
// tests check.

#include "F32.h"
#include "MathFunctions.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;
using P = arith::CmpFPredicate;

#include "Coefficients.inc"

/// Returns x * 2^power for an integral power, rounded once: one instruction of
/// AVX-512, or two multiplications.
static F32 scaleByPower(F32 x, F32 power) {
  auto vector = dyn_cast<VectorType>(x.v.getType());
  if (x.has512Bits && vector && vector.getNumElements() == 16) {
    OpBuilder &b = *x.b;
    Location loc = x.v.getLoc();
    auto integer = [&](Type type, int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, type,
                                      b.getIntegerAttr(type, value));
    };
    Value all = integer(b.getI16Type(), -1);
    Value roundAsSet = integer(b.getI32Type(), 4);
    return x.with(LLVM::CallIntrinsicOp::create(
                      b, loc, vector,
                      b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                      ValueRange{x.v, power.v, x.v, all, roundAsSet})
                      .getResult(0));
  }
  F32 n = power.toInt();
  F32 half = sar(n, 1), bias = n.integer(127);
  F32 first = shl(addInt(half, bias), 23).asFloat();
  F32 second = shl(addInt(subInt(n, half), bias), 23).asFloat();
  return x * first * second;
}

static F32 clamp(F32 x, double low, double high) {
  x = x.compare(P::OGT, x.number(high)).select(x.number(high), x);
  return x.compare(P::OLT, x.number(low)).select(x.number(low), x);
}

static const double expTaylor[] = {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                                   1.0 / 6,    0.5,       1.0,       1.0};

static F32 exponential(F32 x) {
  x = clamp(x, -104.5, 89.0);
  F32 n = (x * x.number(1.4426950408889634)).round();
  // ln 2 is split in two parts. The first one has so few bits that its product
  // with n is exact.
  F32 r = n.fma(x.number(-0.693145751953125), x);
  r = n.fma(x.number(-1.42860682030941723e-6), r);
  return scaleByPower(r.polynomial(expTaylor), n);
}

static F32 exponential2(F32 x) {
  x = clamp(x, -151.0, 129.0);
  F32 n = x.round(), r = x - n;
  SmallVector<double> coefficients;
  double power = 1.0;
  for (double c : llvm::reverse(expTaylor)) {
    coefficients.insert(coefficients.begin(), c * power);
    power *= 0.6931471805599453;
  }
  return scaleByPower(r.polynomial(coefficients), n);
}

/// Logarithm: x = 2^e * (1 + f) with 1 + f around 1, and for s = f / (2 + f),
/// log(1 + f) = f - (f^2/2 - s * (f^2/2 + R(s^2))) with the series of atanh.
static F32 logarithm(F32 x, StringRef base) {
  F32 isSmall = x.compare(P::OLT, x.number(1.17549435e-38));
  F32 scaled = isSmall.select(x * x.number(8388608.0), x);
  F32 bits = addInt(scaled.bits(), x.integer(0x3f800000 - 0x3f3504f3));
  F32 e = subInt(sar(bits, 23), x.integer(127)).toFloat();
  e = e + isSmall.select(x.number(-23.0), x.number(0.0));
  F32 m = addInt(andInt(bits, x.integer(0x7fffff)), x.integer(0x3f3504f3))
              .asFloat();
  F32 f = m - x.number(1.0);
  F32 s = f / (f + x.number(2.0)), z = s * s;
  F32 R = z * z.polynomial({2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
  F32 half = f * f * x.number(0.5);
  F32 result;
  if (base == "e") {
    F32 low = e * x.number(1.42860682030941723e-6);
    F32 rest = s.fma(half + R, low);
    result = e.fma(x.number(0.693145751953125), f - (half - rest));
  } else {
    bool two = base == "2";
    F32 rest = s * (half + R);
    // The product with f, which is exact, is computed in two parts: the factor
    // is high + (factor - high).
    double factor = two ? 1.4426950408889634 : 0.4342944819032518;
    double high = two ? 1.4423828125 : 0.434326171875;
    F32 tail = rest - half;
    F32 product = f.fma(x.number(factor - high),
                        tail.fma(x.number(factor), x.number(0.0)));
    if (!two)
      product = e.fma(x.number(4.6050389811952e-06 - 0.0), product);
    F32 main = f * x.number(high);
    F32 mainError = f.fma(x.number(high), x.number(0.0) - main);
    F32 top = two ? e : e * x.number(0.301025390625);
    F32 sum = top + main;
    F32 sumError = main - (sum - top);
    result = sum + (sumError + mainError + product);
  }
  F32 infinity = x.number(INFINITY);
  result = x.compare(P::OLT, infinity).select(result, x);
  result = x.compare(P::OEQ, x.number(0.0)).select(x.number(-INFINITY), result);
  return x.compare(P::OLT, x.number(0.0)).select(x.number(NAN), result);
}

/// tanh: x + x^3 * P(x^2) near 0, 1 - 2 / (e^2x + 1) elsewhere.
static F32 hyperbolicTangent(F32 x) {
  F32 a = x.abs(), z = x * x;
  F32 small = (x * z).fma(z.polynomial(tanhSmall), x);
  F32 big =
      x.number(1.0) - x.number(2.0) / (exponential(a + a) + x.number(1.0));
  // The sign of x is also that of zero, which `small` does not keep.
  F32 sign = andInt(x.bits(), x.integer(0x80000000));
  F32 value = a.compare(P::OLT, x.number(0.625)).select(small, big);
  return orInt(value.bits(), sign).asFloat();
}

/// erf: x * P(x^2) below 1; 1 - e^(-x^2) * Q(t) above.
static F32 errorFunction(F32 x) {
  F32 a = x.abs();
  a = a.compare(P::OGT, x.number(4.0)).select(x.number(4.0), a);
  F32 z = a * a;
  F32 small = x * z.polynomial(erfSmall);
  F32 t = (a - x.number(2.5)) * x.number(1.0 / 1.5);
  F32 complement = exponential(x.number(0.0) - z) * t.polynomial(erfcxLarge);
  F32 big = x.number(1.0) - complement;
  big = orInt(big.bits(), andInt(x.bits(), x.integer(0x80000000))).asFloat();
  F32 result = a.compare(P::OLT, x.number(1.0)).select(small, big);
  return x.compare(P::UNO, x).select(x, result);
}

/// Computes the quadrant and the remainder in f64, which is accurate enough up
/// to 2^24.
Value MathFunctions::sineOfSingle(Value x, bool isCosine) {
  Type type = x.getType();
  F32 single{&b, x};
  // If one lane is large, all lanes call libm.
  Type wide = like(x, b.getF64Type());
  Value large = arith::CmpFOp::create(b, P::UGT, single.abs().v,
                                      single.number(16777216.0).v);
  Value any = b.intrinsic("llvm.vector.reduce.or", b.getI1Type(), {large});
  auto branch = scf::IfOp::create(b, TypeRange{type}, any, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, callScalar(isCosine ? "cosf" : "sinf", {x}, type));
  b.setInsertionPointToStart(branch.elseBlock());
  Value d = arith::ExtFOp::create(b, wide, x);
  Value n = b.intrinsic(
      "llvm.rint", wide,
      {arith::MulFOp::create(b, d, b.floatConstant(wide, 0.6366197723675814))});
  Value r =
      LLVM::FMAOp::create(b, n, b.floatConstant(wide, -1.5707963267948966), d);
  r = LLVM::FMAOp::create(b, n, b.floatConstant(wide, -6.123233995736766e-17),
                          r);
  F32 rest = single.with(arith::TruncFOp::create(b, type, r));
  F32 quadrant =
      single.with(arith::FPToSIOp::create(b, like(x, b.getI32Type()), n));
  if (isCosine)
    quadrant = addInt(quadrant, single.integer(1));
  F32 z = rest * rest;
  F32 sine = (rest * z).fma(
      z.polynomial({1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}), rest);
  F32 cosine = z.fma(
      z.polynomial({-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5}),
      single.number(1.0));
  auto isSet = [&](int bit) {
    return single.with(arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, andInt(quadrant, single.integer(bit)).v,
        single.integer(0).v));
  };
  F32 value = isSet(1).select(cosine, sine);
  F32 negative = single.with(arith::NegFOp::create(b, value.v));
  value = isSet(2).select(negative, value);
  if (!isCosine) // the sums above make 0 of -0
    value = single.compare(P::OEQ, single.number(0.0)).select(single, value);
  scf::YieldOp::create(b, value.v);
  return branch.getResult(0);
}

Value MathFunctions::ofSingle(StringRef name, ValueRange operands) {
  F32 x{&b, operands[0], context.target.vectorBytes == 64};
  if (name == "exp")
    return exponential(x).v;
  if (name == "exp2")
    return exponential2(x).v;
  if (name == "log")
    return logarithm(x, "e").v;
  if (name == "log2")
    return logarithm(x, "2").v;
  if (name == "log10")
    return logarithm(x, "10").v;
  if (name == "tanh")
    return hyperbolicTangent(x).v;
  if (name == "erf")
    return errorFunction(x).v;
  if (!isa<VectorType>(x.v.getType()))
    return {};
  if (name == "sin" || name == "cos")
    return sineOfSingle(x.v, name == "cos");
  if (name == "powf" && context.target.hasFma)
    return powerOfSingle(operands[0], operands[1]);
  return {};
}
