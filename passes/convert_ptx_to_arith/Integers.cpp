// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of integers.

#include "Emitter.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using I = IntPredicate;

void Emitter::integerArithmetic() {
  if (!at->types.empty() && type().isFloat())
    return at->opcode == "div" ? divide() : floatArithmetic();
  if (at->types.size() != 1)
    return (void)refuse("expected one type");
  if (!type().isInteger())
    return (void)refuse("the type " + type().name + " is not supported here");
  bool isSigned = type().kind == PtxType::Signed;
  bool saturates = take("sat");
  if (saturates && type().name != "s32")
    return (void)refuse("'.sat' needs the type s32");
  if (at->opcode == "sad")
    return perLane(3, [&](ArrayRef<Value> x) {
      return add(x[2], sub(maximum(x[0], x[1], isSigned),
                           minimum(x[0], x[1], isSigned)));
    });
  perLane(2, [&](ArrayRef<Value> x) -> Value {
    if (at->opcode == "div" || at->opcode == "rem") {
      bool isDivision = at->opcode == "div";
      if (isSigned)
        return isDivision ? Value(arith::DivSIOp::create(b, x[0], x[1]))
                          : Value(arith::RemSIOp::create(b, x[0], x[1]));
      return isDivision ? Value(arith::DivUIOp::create(b, x[0], x[1]))
                        : Value(arith::RemUIOp::create(b, x[0], x[1]));
    }
    bool isSum = at->opcode == "add";
    if (!saturates)
      return isSum ? add(x[0], x[1]) : sub(x[0], x[1]);
    Value l = resized(x[0], 64, true), r = resized(x[1], 64, true);
    Value exact = isSum ? add(l, r) : sub(l, r);
    exact = minimum(exact, constant(64, INT32_MAX), true);
    return resized(maximum(exact, constant(64, int64_t(INT32_MIN)), true), 32);
  });
}

/// mul and mad, of which `lo` and `hi` are halves of the product, and `wide` is
/// all of it.
void Emitter::multiply() {
  if (!at->types.empty() && type().isFloat())
    return floatArithmetic();
  bool adds = at->opcode.starts_with("mad"), is24 = at->opcode.ends_with("24");
  if (!needs(1, adds ? 4 : 3))
    return;
  bool isSigned = type().kind == PtxType::Signed;
  unsigned bits = type().bits;
  bool isWide = take("wide"), isHigh = take("hi");
  if ((!isWide && !isHigh && !take("lo")) || !type().isInteger() ||
      type().lanes != 1 || (isWide && bits > 32) ||
      (is24 && (isWide || isHigh || bits != 32)))
    return (void)refuse("this form is not supported");
  Value x = read(1, type()), y = read(2, type()), product;
  if (is24) {
    auto low = [&](Value each) { return right(left(each, 8u), 8u, isSigned); };
    product = mul(low(x), low(y));
  } else if (isWide) {
    product =
        mul(resized(x, 2 * bits, isSigned), resized(y, 2 * bits, isSigned));
  } else if (!isHigh) {
    product = mul(x, y);
  } else if (bits < 64) {
    product =
        mul(resized(x, 2 * bits, isSigned), resized(y, 2 * bits, isSigned));
    product = resized(right(product, bits), bits);
  } else {
    product = external(isSigned ? "__nv_mul64hi" : "__nv_umul64hi", {x, y},
                       integer(64));
  }
  if (adds) {
    PtxType sum = type();
    sum.bits = bitsOf(product);
    product = add(product, read(3, sum));
  }
  write(product);
}

/// dp4a.atype.btype d, a, b, c: the sum of four products of bytes, and c.
/// dp2a.{lo,hi}.atype.btype: of two halves of a and two bytes of b.
void Emitter::dotProduct() {
  if (!needs(2, 4))
    return;
  unsigned count = at->opcode == "dp2a" ? 2 : 4;
  bool isHigh = count == 2 && take("hi");
  if (type(0).width() != 32 || type(1).width() != 32 || !type(0).isInteger() ||
      (count == 2 && !isHigh && !take("lo")))
    return (void)refuse("expected dp4a or dp2a.{lo,hi}, and two types of "
                        "{u32,s32}");
  Value x = read(1, type(0)), y = read(2, type(1)), sum = read(3, type(0));
  auto part = [&](Value value, unsigned i, unsigned bits, const PtxType &type) {
    return right(left(value, 32 - bits * (i + 1)), 32 - bits,
                 type.kind == PtxType::Signed);
  };
  for (unsigned i = 0; i < count; ++i)
    sum = add(sum, mul(part(x, i, 32 / count, type(0)),
                       part(y, isHigh ? i + 2 : i, 8, type(1))));
  write(sum);
}

/// min and max of integers and of floats. Of a number and NaN, the result is
/// the number, or NaN with the modifier `NaN`; -0 is less than +0.
void Emitter::minMax() {
  if (at->types.size() != 1)
    return (void)refuse("expected one type");
  bool isMax = at->opcode == "max";
  if (type().isInteger()) {
    bool isSigned = type().kind == PtxType::Signed, isRelu = take("relu");
    return perLane(2, [&](ArrayRef<Value> x) {
      Value found =
          isMax ? maximum(x[0], x[1], isSigned) : minimum(x[0], x[1], isSigned);
      return isRelu ? maximum(found, constant(bitsOf(found), 0), true) : found;
    });
  }
  if (!type().isFloat())
    return (void)refuse("the type " + type().name + " is not supported here");
  bool keepsNaN = take("NaN"), isFtz = take("ftz");
  bool ofMagnitudes = take("xorsign");
  if (ofMagnitudes && !take("abs"))
    return (void)refuse("'.xorsign' needs '.abs'");
  perLane(2, [&](ArrayRef<Value> bits) {
    Value x = wide(asFloat(bits[0], type())),
          y = wide(asFloat(bits[1], type()));
    Value sign;
    if (isFtz)
      x = flushed(x, type()), y = flushed(y, type());
    if (ofMagnitudes) {
      sign = band(bxor(bits[0], bits[1]), 1ull << (type().bits - 1));
      x = absolute(x), y = absolute(y);
    }
    Value found = isMax ? Value(arith::MaximumFOp::create(b, x, y))
                        : Value(arith::MinimumFOp::create(b, x, y));
    if (!keepsNaN)
      found = select(isNaN(x), y, select(isNaN(y), x, found));
    Value result = asInteger(narrow(found, floating(type())));
    return sign ? bxor(result, sign) : result;
  });
}
