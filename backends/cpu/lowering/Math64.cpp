// SPDX-License-Identifier: Apache-2.0
//
// Exponentials, logarithms, sine and cosine of f64 as vector code. The methods
// are those of Math32.cpp with longer series; errors are within the bounds that
// docs/cpu.md states. Powers of f32 are here, too, because they need f64.

#include "MathFunctions.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

namespace {
using P = arith::CmpFPredicate;

/// Arithmetic on vectors of f64, and of the i64 and i32 that go with them.
struct F64 {
  ImplicitLocOpBuilder &b;
  ArrayRef<int64_t> shape;

  Type of(Type element) const { return VectorType::get(shape, element); }
  Value number(double x) const {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<VectorType>(of(b.getF64Type())), x));
  }
  Value integer(int64_t x) const {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<VectorType>(of(b.getI64Type())), x));
  }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) const {
    return LLVM::FMAOp::create(b, x, y, z);
  }
  Value abs(Value x) const { return LLVM::FAbsOp::create(b, x); }
  Value round(Value x) const {
    return LLVM::CallIntrinsicOp::create(b, x.getType(),
                                         b.getStringAttr("llvm.rint"), x)
        .getResult(0);
  }
  Value is(P predicate, Value x, double y) const {
    return arith::CmpFOp::create(b, predicate, x, number(y));
  }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value bits(Value x) const {
    return arith::BitcastOp::create(b, of(b.getI64Type()), x);
  }
  Value asFloat(Value x) const {
    return arith::BitcastOp::create(b, of(b.getF64Type()), x);
  }
  /// Converts to i32, because every x86 CPU has an instruction for it.
  Value toInt32(Value x) const {
    return arith::FPToSIOp::create(b, of(b.getI32Type()), x);
  }
  Value toFloat(Value x) const {
    return arith::SIToFPOp::create(b, of(b.getF64Type()), x);
  }
  /// Horner's scheme; the first coefficient is that of the highest power.
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value sum = number(coefficients.front());
    for (double c : coefficients.drop_front())
      sum = fma(sum, x, number(c));
    return sum;
  }
  Value clamp(Value x, double low, double high) const {
    x = select(is(P::OGT, x, high), number(high), x);
    return select(is(P::OLT, x, low), number(low), x);
  }
  /// Returns x * 2^n. Multiplies twice, so that denormal results round once.
  Value scaleByPower(Value x, Value n) const {
    auto power = [&](Value e) {
      Value wide = arith::ExtSIOp::create(b, of(b.getI64Type()), e);
      wide = arith::AddIOp::create(b, wide, integer(1023));
      return asFloat(arith::ShLIOp::create(b, wide, integer(52)));
    };
    Value one = arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<VectorType>(n.getType()), int32_t(1)));
    Value half = arith::ShRSIOp::create(b, n, one);
    return mul(mul(x, power(half)), power(arith::SubIOp::create(b, n, half)));
  }

  Value exponential(Value x, bool isBase2) const;
  Value logarithm(Value x, StringRef name) const;
  Value sine(Value x, bool isCosine) const;
  Value power(Value x, Value y) const;
};
} // namespace

// Constants in two or three parts, whose sum is more precise than a double. The
// first parts of ln 2 and log10 2 have 32 bits.
static constexpr double ln2High = 0x1.62e42ffp-1;
static constexpr double ln2Low = -0x1.718432a1b0e26p-35;
static constexpr double log2High = 1.4426950408889634;
static constexpr double log2Low = 2.0355273740931033e-17;
static constexpr double log10High = 0.4342944819032518;
static constexpr double log10Low = 1.098319650216765e-17;
static constexpr double log10Of2High = 0.3010299956658855;
static constexpr double log10Of2Low = -1.9043128467164274e-12;
static constexpr double halfPi[] = {1.5707963267948966, 6.123233995736766e-17,
                                    -1.4973849048591698e-33};

/// 1/13!, ..., 1/1!, 1: enough for |x| <= ln(2) / 2.
static SmallVector<double> expSeries() {
  SmallVector<double> series = {1.0};
  double factorial = 1.0;
  for (int i = 1; i <= 13; ++i)
    series.insert(series.begin(), 1.0 / (factorial *= i));
  return series;
}

Value F64::exponential(Value x, bool isBase2) const {
  Value n, r;
  if (isBase2) {
    x = clamp(x, -1080.0, 1025.0);
    n = round(x);
    r = mul(sub(x, n), number(0.6931471805599453));
  } else {
    x = clamp(x, -746.0, 710.0);
    n = round(mul(x, number(1.4426950408889634)));
    // ln 2 is split in two parts. The first one has so few bits that its
    // product with n is exact.
    r = fma(n, number(-ln2High), x);
    r = fma(n, number(-ln2Low), r);
  }
  return scaleByPower(polynomial(r, expSeries()), toInt32(n));
}

/// As in Math32.cpp: x = 2^e * (1 + f) with 1 + f around 1, s = f / (2 + f),
/// and log(1 + f) = f - (f^2/2 - s * (f^2/2 + R(s^2))) with the series of
/// atanh.
Value F64::logarithm(Value x, StringRef name) const {
  Value isSmall = is(P::OLT, x, 0x1p-1022);
  Value scaled = select(isSmall, mul(x, number(0x1p54)), x);
  constexpr int64_t one = 0x3ff0000000000000, root = 0x3fe6a09e667f3bcd;
  Value all = arith::AddIOp::create(b, bits(scaled), integer(one - root));
  Value exponent = arith::TruncIOp::create(
      b, of(b.getI32Type()), arith::ShRUIOp::create(b, all, integer(52)));
  Value e =
      sub(toFloat(exponent), select(isSmall, number(1077.0), number(1023.0)));
  Value mantissa = arith::AndIOp::create(b, all, integer(0xfffffffffffff));
  Value f = sub(asFloat(arith::AddIOp::create(b, mantissa, integer(root))),
                number(1.0));
  Value s = arith::DivFOp::create(b, f, add(f, number(2.0))), z = mul(s, s);
  SmallVector<double> series;
  for (int k = 21; k >= 3; k -= 2)
    series.push_back(2.0 / k);
  Value rest = mul(z, polynomial(z, series));
  Value half = mul(mul(f, f), number(0.5)), result;
  if (name == "log") {
    Value low = mul(e, number(ln2Low));
    Value inner = fma(s, add(half, rest), low);
    result = fma(e, number(ln2High), sub(f, sub(half, inner)));
  } else {
    bool two = name == "log2";
    // The factor is split in two parts, and so is its product with f. f itself
    // is exact.
    double factor = two ? log2High : log10High;
    double remainder = two ? log2Low : log10Low;
    Value tail = sub(mul(s, add(half, rest)), half);
    Value main = mul(f, number(factor));
    Value mainError = fma(f, number(factor), arith::NegFOp::create(b, main));
    Value product = fma(f, number(remainder), mul(tail, number(factor)));
    Value top = e;
    if (!two) {
      top = mul(e, number(log10Of2High));
      product = fma(e, number(log10Of2Low), product);
    }
    Value sum = add(top, main);
    Value sumError = sub(main, sub(sum, top));
    result = add(sum, add(add(sumError, mainError), product));
  }
  result = select(is(P::OLT, x, INFINITY), result, x);
  result = select(is(P::OEQ, x, 0.0), number(-INFINITY), result);
  return select(is(P::OLT, x, 0.0), number(NAN), result);
}

/// Returns the sine or cosine for |x| <= 2^20. The quadrant is subtracted with
/// pi/2 in three parts.
Value F64::sine(Value x, bool isCosine) const {
  Value n = round(mul(x, number(0.6366197723675814)));
  Value r = x;
  for (double part : halfPi)
    r = fma(n, number(-part), r);
  Value quadrant = toInt32(n);
  auto constantOf = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<VectorType>(quadrant.getType()), value));
  };
  if (isCosine)
    quadrant = arith::AddIOp::create(b, quadrant, constantOf(1));
  SmallVector<double> sines, cosines;
  double factorial = 1.0;
  for (int k = 2; k <= 17; ++k) {
    double term = (k / 2 % 2 ? -1.0 : 1.0) / (factorial *= k);
    (k % 2 ? sines : cosines).insert((k % 2 ? sines : cosines).begin(), term);
  }
  Value z = mul(r, r);
  Value sine = fma(mul(r, z), polynomial(z, sines), r);
  Value cosine = fma(z, polynomial(z, cosines), number(1.0));
  auto isSet = [&](int32_t bit) -> Value {
    return arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, quadrant, constantOf(bit)), constantOf(0));
  };
  Value value = select(isSet(1), cosine, sine);
  value = select(isSet(2), arith::NegFOp::create(b, value), value);
  // The sums above make 0 of -0.
  return isCosine ? value : select(is(P::OEQ, x, 0.0), x, value);
}

/// Returns x^y as 2^(y * log2 |x|), with the sign of x if y is odd, and with
/// the special cases of C's pow. The logarithm is accurate enough only for
/// results that are rounded to f32.
Value F64::power(Value x, Value y) const {
  auto both = [&](Value lhs, Value rhs) -> Value {
    return arith::AndIOp::create(b, lhs, rhs);
  };
  auto isIntegral = [&](Value v) -> Value {
    return arith::CmpFOp::create(b, P::OEQ, round(v), v);
  };
  Value magnitude = abs(x);
  Value result =
      exponential(mul(y, logarithm(magnitude, "log2")), /*isBase2=*/true);
  Value isOne = is(P::OEQ, magnitude, 1.0);
  Value isInfinite = is(P::OEQ, abs(y), INFINITY);
  result = select(both(isOne, isInfinite), number(1.0), result);
  // Test the sign bit, so that -0 counts as negative.
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits(x), integer(0));
  Value isWhole = isIntegral(y), isEven = isIntegral(mul(y, number(0.5)));
  Value isOdd =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, isWhole, isEven);
  result =
      select(both(isNegative, isOdd), arith::NegFOp::create(b, result), result);
  Value isUndefined = both(both(is(P::OLT, x, 0.0), is(P::ONE, x, -INFINITY)),
                           arith::CmpFOp::create(b, P::UNE, round(y), y));
  result = select(isUndefined, number(NAN), result);
  result = select(is(P::OEQ, x, 1.0), number(1.0), result);
  return select(is(P::OEQ, y, 0.0), number(1.0), result);
}

Value MathFunctions::powerOfSingle(Value x, Value y) {
  auto type = cast<VectorType>(x.getType());
  F64 math{b, type.getShape()};
  auto toDouble = [&](Value v) -> Value {
    return arith::ExtFOp::create(b, math.of(b.getF64Type()), v);
  };
  return arith::TruncFOp::create(b, type, math.power(toDouble(x), toDouble(y)));
}

/// Returns null if `name` has no vector code here.
Value MathFunctions::ofDouble(StringRef name, Value x) {
  auto type = cast<VectorType>(x.getType());
  F64 math{b, type.getShape()};
  if (name == "exp" || name == "exp2")
    return math.exponential(x, name == "exp2");
  if (name == "log" || name == "log2" || name == "log10")
    return math.logarithm(x, name);
  if (name != "sin" && name != "cos")
    return {};
  // If one lane is large, all lanes call libm.
  Value large = math.is(P::UGT, math.abs(x), 0x1p20);
  Value any = b.intrinsic("llvm.vector.reduce.or", b.getI1Type(), {large});
  auto branch = scf::IfOp::create(b, TypeRange{type}, any, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, callScalar(name, {x}, type));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, math.sine(x, name == "cos"));
  return branch.getResult(0);
}
