// SPDX-License-Identifier: Apache-2.0
//
// Functions of libdevice that round in a direction: toward zero (_rz), down
// (_rd), up (_ru). Those of f32 are vector code in f64, and those of f64 call
// the runtime, which changes the rounding of the processor.

#include "Libdevice.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

using I = arith::CmpIPredicate;
using P = arith::CmpFPredicate;

/// Returns the rounding by `mode` of a number whose nearest number is
/// `nearest`: this one, or its neighbour if `nearest` lies on the wrong side.
///
/// Claim: the bits of neighbours of the same sign differ by 1, so a step toward
/// zero subtracts 1, and a step away from zero adds 1. Example: the neighbour
/// of infinity is the largest number.
Value LibdeviceEmitter::step(Value nearest, Value isAbove, Value isBelow,
                             StringRef mode) {
  bool isSingle = getElementTypeOrSelf(nearest.getType()).isF32();
  Type integer = typeOf(isSingle ? b.getI32Type() : b.getI64Type());
  auto constant = [&](int64_t value) { return b.constant(integer, value); };
  Value bits = bitcast(nearest, integer);
  Value isNegative = arith::CmpIOp::create(b, I::slt, bits, constant(0));
  Value isWrong = mode == "rd"   ? isAbove
                  : mode == "ru" ? isBelow
                                 : select(isNegative, isBelow, isAbove);
  Value by = constant(-1);
  if (mode == "rd")
    by = select(isNegative, constant(1), constant(-1));
  if (mode == "ru")
    by = select(isNegative, constant(-1), constant(1));
  Value other = bitcast(add(bits, by), nearest.getType());
  return select(isWrong, other, nearest);
}

/// Returns the f64 `x` as f32, rounded by `mode`.
///
/// Claim: the number that is nearest, or its neighbour, is the result. Reason:
/// they are the two numbers around `x`, and the bits of neighbours of the same
/// sign differ by 1. Example: 1e300 toward zero is nearest to infinity, whose
/// neighbour is the largest number.
Value LibdeviceEmitter::toSingle(Value x, StringRef mode) {
  Value nearest = arith::TruncFOp::create(b, result, x);
  if (mode == "rn")
    return nearest;
  Value back = arith::ExtFOp::create(b, x.getType(), nearest);
  Value isAbove = is(P::OGT, back, x), isBelow = is(P::OLT, back, x);
  return step(nearest, isAbove, isBelow, mode);
}

/// Returns x + y, rounded to the nearest, and its error, which is a number
/// (the sum of Knuth and Moeller).
std::pair<Value, Value> LibdeviceEmitter::sumInTwo(Value x, Value y) {
  Value sum = fenced(fadd(x, y)), part = fenced(fsub(sum, x));
  Value rest = fadd(fsub(x, fsub(sum, part)), fsub(y, part));
  return {sum, rest};
}

/// Returns the f64 next to `sum.first` + `sum.second` whose last bit is 1; the
/// first number if the second one is 0 or NaN.
///
/// Claim: f64 rounded to odd and then to f32 is f32 rounded once, in each mode.
/// Reason: f64 has more than twice as many bits plus two, and the last bit
/// says that the number was not exact. Example: 1 + 2^-24 + 2^-80 rounds up to
/// 1 + 2^-23 in two steps, but would be a tie if the last part were dropped.
Value LibdeviceEmitter::roundToOdd(std::pair<Value, Value> sum) {
  auto [value, rest] = sum;
  Type integer = typeOf(b.getI64Type());
  auto constant = [&](int64_t value) { return b.constant(integer, value); };
  Value bits = bitcast(value, integer);
  Value isEven =
      arith::CmpIOp::create(b, I::eq, band(bits, constant(1)), constant(0));
  Value isInexact = is(P::ONE, rest, number(0));
  Value signs = bxor(bits, bitcast(rest, integer));
  Value isSmaller = arith::CmpIOp::create(b, I::slt, signs, constant(0));
  Value odd = add(bits, select(isSmaller, constant(-1), constant(1)));
  Value changes = arith::AndIOp::create(b, isEven, isInexact);
  return bitcast(select(changes, odd, bits), value.getType());
}

/// Conversions to floats.
Value LibdeviceEmitter::fromInteger(StringRef name) {
  if (name.consume_front("double2float_"))
    return toSingle(arg(0), name);
  auto [from, rest] = name.split('2');
  auto [to, mode] = rest.split('_');
  if (!llvm::is_contained({"int", "uint", "ll", "ull"}, from) ||
      !llvm::is_contained({"float", "double"}, to))
    return {};
  bool isSigned = !from.starts_with("u");
  auto convert = [&](Value x, Type type, bool isSigned) -> Value {
    return isSigned ? Value(arith::SIToFPOp::create(b, type, x))
                    : Value(arith::UIToFPOp::create(b, type, x));
  };
  if (mode == "rn")
    return convert(arg(0), result, isSigned);
  Type f64 = typeOf(b.getF64Type()), i32 = typeOf(b.getI32Type());
  if (!from.ends_with("ll")) // f64 is exact here
    return toSingle(convert(arg(0), f64, isSigned), mode);
  Value high = arith::TruncIOp::create(b, i32, shift(arg(0), 32, isSigned));
  Value low = arith::TruncIOp::create(b, i32, arg(0));
  auto sum = sumInTwo(fmul(convert(high, f64, isSigned), number(0x1p32)),
                      convert(low, f64, false));
  if (to == "float")
    return toSingle(roundToOdd(sum), mode);
  return step(sum.first, is(P::OLT, sum.second, number(0)),
              is(P::OGT, sum.second, number(0)), mode);
}

/// Arithmetic that rounds in a direction.
Value LibdeviceEmitter::directed(StringRef name) {
  auto [function, mode] = name.split('_');
  if (!llvm::is_contained({"rz", "rd", "ru"}, mode))
    return {};
  if (getElementTypeOrSelf(result).isF64())
    return math.callScalar(("triton_ext_cpu_" + name).str(), operands, result);
  Type type = typeOf(b.getF64Type());
  // The largest number that is not above x + y is the negative of the smallest
  // one that is not below -x - y. So sums of 0 have the sign that IEEE 754 asks
  // for: 1 - 1 is -0, if it is rounded down.
  bool isDown = mode == "rd";
  auto rounded = [&](Value x, Value y) {
    if (!isDown)
      return toSingle(roundToOdd(sumInTwo(x, y)), mode);
    return negative(
        toSingle(roundToOdd(sumInTwo(negative(x), negative(y))), "ru"));
  };
  if (function == "fadd")
    return rounded(wide(0), wide(1));
  if (function == "fsub")
    return rounded(wide(0), negative(wide(1)));
  if (function == "fmul") // the product of f32 is exact in f64
    return toSingle(fmul(wide(0), wide(1)), mode);
  if (function == "fmaf")
    return rounded(fmul(wide(0), wide(1)), wide(2));
  // A quotient or a root in f64 is a number of f32 only if it is exact, so it
  // rounds as the exact one does. Reason: a number of f32 that is not equal to
  // x / y or to the root of x differs from it by a factor of at least 1 +
  // 2^-48, because its product with y, and its square, have at most 48 bits.
  if (function == "fsqrt")
    return toSingle(b.intrinsic("llvm.sqrt", type, {wide(0)}), mode);
  if (function == "fdiv")
    return toSingle(fdiv(wide(0), wide(1)), mode);
  if (function == "frcp")
    return toSingle(fdiv(number(1), wide(0)), mode);
  return {};
}
