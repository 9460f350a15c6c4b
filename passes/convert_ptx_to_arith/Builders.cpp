// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on scalars or tensors, whose constants are folded.

#include "Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#include <cmath>

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

Type Emitter::like(Type element) const {
  return tensor ? Type(RankedTensorType::get(tensor->getShape(), element))
                : element;
}

Type Emitter::floating(const PtxType &type) const {
  if (type.kind == PtxType::Brain)
    return like(b.getBF16Type());
  return like(type.bits == 16   ? Type(b.getF16Type())
              : type.bits == 32 ? Type(b.getF32Type())
                                : Type(b.getF64Type()));
}

unsigned Emitter::bitsOf(Value value) const {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

Value Emitter::constant(unsigned bits, uint64_t value) {
  auto attribute = b.getIntegerAttr(
      b.getIntegerType(bits),
      APInt(bits, value, /*isSigned=*/false, /*implicitTrunc=*/true));
  if (!tensor)
    return arith::ConstantOp::create(b, attribute);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<ShapedType>(integer(bits)),
                                Attribute(attribute)));
}

Value Emitter::number(Type type, double value) {
  auto attribute = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (!tensor)
    return arith::ConstantOp::create(b, attribute);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<ShapedType>(type), Attribute(attribute)));
}

Value Emitter::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}
Value Emitter::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(x, y);
}
Value Emitter::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(x, y);
}
Value Emitter::band(Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(x, y);
}
Value Emitter::bor(Value x, Value y) {
  return b.createOrFold<arith::OrIOp>(x, y);
}
Value Emitter::bxor(Value x, Value y) {
  return b.createOrFold<arith::XOrIOp>(x, y);
}
Value Emitter::invert(Value x) { return bxor(x, constant(bitsOf(x), ~0ull)); }

Value Emitter::is(IntPredicate predicate, Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(predicate, x, y);
}
Value Emitter::is(IntPredicate predicate, Value x, int64_t y) {
  return is(predicate, x, constant(bitsOf(x), y));
}
Value Emitter::select(Value condition, Value yes, Value no) {
  return b.createOrFold<arith::SelectOp>(condition, yes, no);
}

Value Emitter::resized(Value x, unsigned bits, bool isSigned) {
  unsigned from = bitsOf(x);
  if (from == bits)
    return x;
  if (from > bits)
    return b.createOrFold<arith::TruncIOp>(integer(bits), x);
  if (isSigned)
    return b.createOrFold<arith::ExtSIOp>(integer(bits), x);
  return b.createOrFold<arith::ExtUIOp>(integer(bits), x);
}

Value Emitter::left(Value x, Value by) {
  return b.createOrFold<arith::ShLIOp>(x, by);
}
Value Emitter::right(Value x, Value by, bool isSigned) {
  if (isSigned)
    return b.createOrFold<arith::ShRSIOp>(x, by);
  return b.createOrFold<arith::ShRUIOp>(x, by);
}

/// In PTX an amount is unsigned and clamped; in arith, a shift by the width or
/// more is poison. So the amount is brought below the width first.
Value Emitter::leftOrZero(Value x, Value by) {
  unsigned bits = bitsOf(x);
  Value fits = is(IntPredicate::ult, by, bits);
  Value amount = select(fits, by, constant(32, 0));
  return select(fits, left(x, resized(amount, bits)), constant(bits, 0));
}

Value Emitter::rightOrSign(Value x, Value by, bool isSigned) {
  unsigned bits = bitsOf(x);
  Value fits = is(IntPredicate::ult, by, bits);
  Value amount = select(fits, by, constant(32, isSigned ? bits - 1 : 0));
  Value shifted = right(x, resized(amount, bits), isSigned);
  return isSigned ? shifted : select(fits, shifted, constant(bits, 0));
}

Value Emitter::minimum(Value x, Value y, bool isSigned) {
  if (isSigned)
    return b.createOrFold<arith::MinSIOp>(x, y);
  return b.createOrFold<arith::MinUIOp>(x, y);
}
Value Emitter::maximum(Value x, Value y, bool isSigned) {
  if (isSigned)
    return b.createOrFold<arith::MaxSIOp>(x, y);
  return b.createOrFold<arith::MaxUIOp>(x, y);
}

Value Emitter::asFloat(Value x, const PtxType &type) {
  return b.createOrFold<arith::BitcastOp>(floating(type), x);
}
Value Emitter::asInteger(Value x) {
  return b.createOrFold<arith::BitcastOp>(integer(bitsOf(x)), x);
}

/// Returns a float of 16 bits as f32.
Value Emitter::wide(Value x) {
  return bitsOf(x) == 16
             ? Value(arith::ExtFOp::create(b, like(b.getF32Type()), x))
             : x;
}
Value Emitter::narrow(Value x, Type type) {
  return x.getType() == type ? x : Value(arith::TruncFOp::create(b, type, x));
}

Value Emitter::is(FloatPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}
Value Emitter::absolute(Value x) { return math::AbsFOp::create(b, x); }

Value Emitter::flushed(Value x, const PtxType &type) {
  int exponent = type.kind == PtxType::Brain ? -126
                 : type.bits == 16           ? -14
                                             : -126;
  Value isTiny = is(FloatPredicate::OLT, absolute(x),
                    number(x.getType(), std::ldexp(1.0, exponent)));
  Value zero = b.createOrFold<arith::BitcastOp>(
      x.getType(), band(asInteger(x), 1ull << (bitsOf(x) - 1)));
  return select(isTiny, zero, x);
}

/// .sat: to 0 … 1; NaN is 0.
Value Emitter::saturated(Value x) {
  Value zero = number(x.getType(), 0), one = number(x.getType(), 1);
  Value low = select(is(FloatPredicate::OGT, x, zero), x, zero);
  return select(is(FloatPredicate::OLT, low, one), low, one);
}

/// .relu: negative numbers are 0; NaN stays.
Value Emitter::rectified(Value x) {
  return select(is(FloatPredicate::OLE, x, number(x.getType(), 0)),
                number(x.getType(), 0), x);
}

Value Emitter::external(StringRef symbol, ValueRange operands, Type result) {
  return triton::ExternElementwiseOp::create(b, result, operands, "libdevice",
                                             "", symbol, /*pure=*/true);
}
