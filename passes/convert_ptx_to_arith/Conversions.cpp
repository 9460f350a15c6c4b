// SPDX-License-Identifier: Apache-2.0
//
// cvt between integers and floats.

#include "Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#include <cmath>

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using I = IntPredicate;
using F = FloatPredicate;

/// Rounds to an integral number.
static Value rounded(Emitter &e, Value x, StringRef mode) {
  if (mode == "rni")
    return math::RoundEvenOp::create(e.b, x);
  if (mode == "rzi")
    return math::TruncOp::create(e.b, x);
  if (mode == "rmi")
    return math::FloorOp::create(e.b, x);
  return math::CeilOp::create(e.b, x);
}

/// A float that is too large becomes the nearest integer. NaN becomes 0; if one
/// of the types has 64 bits, the highest bit alone.
Value Emitter::floatToInteger(Value x, const PtxType &to, const PtxType &from,
                              StringRef mode) {
  x = rounded(*this, wide(x), mode);
  Type type = x.getType();
  bool isSigned = to.kind == PtxType::Signed;
  double low = isSigned ? -std::ldexp(1.0, to.bits - 1) : 0;
  double limit = std::ldexp(1.0, isSigned ? to.bits - 1 : to.bits);
  Value isLow = is(F::OLT, x, number(type, low));
  Value isHigh = is(F::OGE, x, number(type, limit));
  Value isOut = bor(isNaN(x), bor(isLow, isHigh));
  Value safe = select(isOut, number(type, 0), x);
  Type wideType = integer(std::max(to.bits, 32u));
  Value result = isSigned ? Value(arith::FPToSIOp::create(b, wideType, safe))
                          : Value(arith::FPToUIOp::create(b, wideType, safe));
  result = resized(result, to.bits);
  uint64_t top = 1ull << (to.bits - 1);
  result = select(isLow, constant(to.bits, isSigned ? top : 0), result);
  result =
      select(isHigh, constant(to.bits, isSigned ? top - 1 : ~0ull), result);
  bool isLong = from.bits == 64 || to.bits == 64;
  return select(isNaN(x), constant(to.bits, isLong ? top : 0), result);
}

Value Emitter::integerToFloat(Value x, const PtxType &to, const PtxType &from,
                              StringRef mode) {
  bool isSigned = from.kind == PtxType::Signed, isLong = from.bits == 64;
  // f64 represents an integer of 32 bits exactly, and an integer of 64 bits
  // that f64 rounds is infinite in f16 in any case.
  bool isExact = to.bits == 64 && !isLong;
  if (mode == "rn" || isExact) {
    if (to.kind == PtxType::Brain && isLong)
      return refuse("64 bits to bf16 are not supported"), Value();
    PtxType between = to;
    if (to.bits == 16)
      between = PtxType{PtxType::Float, 64, 1, "f64"};
    Type type = floating(between);
    Value value = isSigned ? Value(arith::SIToFPOp::create(b, type, x))
                           : Value(arith::UIToFPOp::create(b, type, x));
    return narrow(value, floating(to));
  }
  if (to.bits == 16)
    return refuse("'." + mode + "' is not supported for 16 bits"), Value();
  x = resized(x, isLong ? 64 : 32, isSigned);
  StringRef source =
      isLong ? (isSigned ? "ll" : "ull") : (isSigned ? "int" : "uint");
  StringRef direction = mode == "rm" ? "rd" : mode == "rp" ? "ru" : mode;
  return external(("__nv_" + source + "2" +
                   (to.bits == 32 ? "float_" : "double_") + direction)
                      .str(),
                  {x}, floating(to));
}

Value Emitter::floatToFloat(Value x, const PtxType &to, const PtxType &from,
                            StringRef mode) {
  Type type = floating(to);
  if (mode.ends_with("i"))
    return narrow(rounded(*this, wide(x), mode), type);
  if (to.bits > from.bits)
    return arith::ExtFOp::create(b, type, x);
  if (x.getType() == type)
    return x;
  x = wide(x);
  if (mode == "rn")
    return narrow(x, type);
  if (from.bits == 64 && to.bits == 32)
    return external(("__nv_double2float_" + (mode == "rm"   ? StringRef("rd")
                                             : mode == "rp" ? StringRef("ru")
                                                            : mode))
                        .str(),
                    {x}, type);
  if (mode == "rz" && from.bits == 32)
    return triton::FpToFpOp::create(
        b, type, x,
        triton::RoundingModeAttr::get(b.getContext(),
                                      triton::RoundingMode::RTZ));
  return refuse("this rounding is not supported"), x;
}

/// tf32 is f32 whose 13 low bits are 0.
Value Emitter::toTensorFloat(Value x, StringRef mode) {
  Value bits = x;
  if (mode == "rna")
    bits = add(x, constant(32, 0x1000));
  else if (mode == "rn")
    bits = add(x, add(constant(32, 0xfff), band(right(x, 13), 1)));
  bits = band(bits, ~0x1fffull);
  Value size = band(x, 0x7fffffff);
  bits = select(is(I::uge, size, 0x7f800000), x, bits);
  return select(is(I::ugt, size, 0x7f800000), constant(32, 0x7fffffff), bits);
}

/// .satfinite: the largest number in place of infinity, whose bits are 1 more.
Value Emitter::largestFor(Value x, const PtxType &type) {
  Value bits = asInteger(x);
  uint64_t infinity = type.kind == PtxType::Brain ? 0x7f80
                      : type.bits == 16           ? 0x7c00
                                                  : 0x7f800000;
  uint64_t size = (1ull << (type.bits - 1)) - 1;
  return select(is(I::eq, band(bits, size), int64_t(infinity)),
                sub(bits, constant(type.bits, 1)), bits);
}

/// cvt.pack.sat.type.s32 d, a, b{, c}: a above b; above both, c.
void Emitter::packIntegers() {
  const PtxType &to = type(0);
  bool hasRest = at->types.size() == 3;
  if (!take("sat") || at->types.size() < 2 || !to.isInteger() || to.bits > 16 ||
      type(1).name != "s32" || (to.bits == 16) == hasRest ||
      at->operands.size() != (hasRest ? 4 : 3))
    return (void)refuse("this form is not supported");
  bool isSigned = to.kind == PtxType::Signed;
  int64_t high = (1ll << (to.bits - isSigned)) - 1, low = isSigned ? ~high : 0;
  SmallVector<Value> parts;
  for (unsigned i : {2, 1}) {
    Value x = minimum(read(i, type(1)), constant(32, high), true);
    parts.push_back(resized(maximum(x, constant(32, low), true), to.bits));
  }
  Value result = resized(joined(parts), 32);
  if (hasRest)
    result = bor(result, left(read(3, type(2)), 16u));
  write(result);
}

void Emitter::convert() {
  if (take("pack"))
    return packIntegers();
  if (at->types.size() == 2 && type(0).name == "tf32") {
    if (!needs(2, 2) || type(1).name != "f32")
      return (void)refuse("expected cvt.tf32.f32");
    Value x = read(1, type(1));
    StringRef mode =
        takeOne({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
    if (take("relu"))
      x = asInteger(rectified(asFloat(x, type(1))));
    if (take("satfinite"))
      x = largestFor(asFloat(x, type(1)), type(1));
    return write(toTensorFloat(x, mode));
  }
  if (at->types.size() >= 2 && type(0).kind == PtxType::Small)
    return convertToSmall();
  if (at->types.size() >= 2 && type(1).kind == PtxType::Small)
    return convertFromSmall();
  if (type(0).lanes == 2)
    return convertPairs();
  if (!needs(2, 2))
    return;
  const PtxType &to = type(0), &from = type(1);
  if (from.lanes != 1 || !(to.isFloat() || to.isInteger()) ||
      !(from.isFloat() || from.isInteger()) || to.kind == PtxType::Bits ||
      from.kind == PtxType::Bits)
    return (void)refuse("these types are not supported");
  StringRef mode =
      takeOne({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  bool isSat = take("sat"), isFtz = take("ftz"), isRelu = take("relu");
  bool isFinite = take("satfinite");
  Value x = read(1, from, /*mayBeWider=*/true), result;
  if (from.isFloat()) {
    x = asFloat(x, from);
    if (isFtz && from.bits == 32)
      x = flushed(x, from);
  }
  if (to.isInteger() && from.isFloat()) {
    if (!mode.ends_with("i"))
      return (void)refuse("a conversion to an integer needs .rni, .rzi, .rmi "
                          "or .rpi");
    result = floatToInteger(x, to, from, mode);
  } else if (to.isInteger()) {
    bool isSigned = from.kind == PtxType::Signed;
    bool toSigned = to.kind == PtxType::Signed;
    if (isSat && !mode.empty())
      return (void)refuse("'." + mode + "' is not supported here");
    if (isSat && isSigned && !toSigned)
      x = maximum(x, constant(from.bits, 0), true);
    unsigned highBits = to.bits - toSigned;
    if (isSat && (to.bits < from.bits ||
                  (to.bits == from.bits && !isSigned && toSigned))) {
      uint64_t high = (1ull << highBits) - 1;
      x = minimum(x, constant(from.bits, high), isSigned);
      if (isSigned && toSigned)
        x = maximum(x, constant(from.bits, ~high), true);
    }
    result = resized(x, to.bits, isSigned);
  } else {
    if (from.isInteger() || to.bits < from.bits ||
        (to.kind != from.kind && to.bits == from.bits))
      if (mode.empty() || mode.ends_with("i"))
        return (void)refuse("this conversion needs .rn, .rz, .rm or .rp");
    Value value = from.isInteger() ? integerToFloat(x, to, from, mode)
                                   : floatToFloat(x, to, from, mode);
    if (!value)
      return;
    if (isSat)
      value = saturated(value);
    if (isRelu)
      value = rectified(value);
    if (isFtz && to.bits == 32)
      value = flushed(value, to);
    result = isFinite ? largestFor(value, to) : asInteger(value);
  }
  // A register that is wider gets the sign, or zeros.
  const Operand &target = at->operands[0];
  if (target.kind == Operand::Register && to.isInteger() &&
      program.registers[target.index].width() > to.bits)
    result = resized(result, program.registers[target.index].width(),
                     to.kind == PtxType::Signed);
  write(result);
}
