// SPDX-License-Identifier: Apache-2.0
//
// cvt of two floats into one register: 16 bits each, 8 bits, or 4 bits. The
// first operand is the upper half.

#include "Emitter.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using I = IntPredicate;
using F = FloatPredicate;

/// Returns the type of MLIR with 8 bits; null if there is none.
static Type float8(OpBuilder &b, StringRef name) {
  if (name == "e4m3x2")
    return b.getType<Float8E4M3FNType>();
  if (name == "e5m2x2")
    return b.getType<Float8E5M2Type>();
  return {};
}

/// cvt.{rn,rz}{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b
void Emitter::convertPairs() {
  if (!needs(2, 3))
    return;
  if (!type(0).isFloat() || type(0).bits != 16 || type(1).name != "f32")
    return (void)refuse("these types are not supported");
  bool isNearest = take("rn"), isRelu = take("relu");
  bool isFinite = take("satfinite");
  if (!isNearest && !take("rz"))
    return (void)refuse("this conversion needs .rn or .rz");
  PtxType half = type(0);
  half.lanes = 1;
  SmallVector<Value> parts;
  for (unsigned i : {2, 1}) {
    Value x = asFloat(read(i, type(1)), type(1));
    if (isRelu)
      x = rectified(x);
    x = floatToFloat(x, half, type(1), isNearest ? "rn" : "rz");
    parts.push_back(isFinite ? largestFor(x, half) : asInteger(x));
  }
  write(joined(parts));
}

/// cvt.rn{.relu}.f16x2.{e4m3x2,e5m2x2,e2m1x2} and cvt.rn.bf16x2.ue8m0x2
void Emitter::convertFromSmall() {
  if (!needs(2, 2))
    return;
  StringRef from = type(1).name;
  bool isScale = from == "ue8m0x2", isRelu = take("relu");
  if (!take("rn") || type(0).name != (isScale ? "bf16x2" : "f16x2"))
    return (void)refuse("these types are not supported");
  PtxType half = type(0);
  half.lanes = 1;
  SmallVector<Value> parts;
  for (Value bits : lanes(read(1, type(1), true), type(1))) {
    if (isScale) {
      // The code is the exponent of a bf16; 0 stands for 2^-127.
      Value code = resized(bits, 16);
      Value power =
          select(is(I::eq, code, 0), constant(16, 0x40), left(code, 7u));
      parts.push_back(
          select(is(I::eq, code, 255), constant(16, 0x7fff), power));
      continue;
    }
    Value value;
    if (Type type = float8(b, from)) {
      value = b.createOrFold<arith::BitcastOp>(like(type), bits);
      value = triton::FpToFpOp::create(b, floating(half), value,
                                       triton::RoundingModeAttr());
    } else {
      // At the place of f16's exponent, whose bias is 14 more.
      Value code = resized(bits, 16);
      Value size = wide(asFloat(left(band(code, 7), 9u), half));
      size = arith::MulFOp::create(b, size, number(size.getType(), 16384));
      Value sign = left(band(code, 8), 12u);
      value = asFloat(bor(asInteger(narrow(size, floating(half))), sign), half);
    }
    parts.push_back(asInteger(isRelu ? rectified(value) : value));
  }
  write(joined(parts));
}

/// cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2,e2m1x2}.{f32,f16x2} and
/// cvt.{rz,rp}.satfinite.ue8m0x2.{f32,bf16x2}
void Emitter::convertToSmall() {
  bool isSingle = type(1).name == "f32";
  if (!needs(2, isSingle ? 3 : 2))
    return;
  StringRef to = type(0).name;
  bool isScale = to == "ue8m0x2", isUp = isScale && take("rp");
  bool isRelu = take("relu");
  if (!(isScale ? isUp || take("rz") : take("rn")) || !take("satfinite") ||
      !(isSingle || type(1).name == (isScale ? "bf16x2" : "f16x2")))
    return (void)refuse("these types are not supported");
  SmallVector<Value> parts;
  if (isSingle)
    parts = {asFloat(read(2, type(1)), type(1)),
             asFloat(read(1, type(1)), type(1))};
  else
    for (Value each : lanes(read(1, type(1)), type(1)))
      parts.push_back(wide(asFloat(each, type(1))));
  for (Value &part : parts) {
    if (isRelu)
      part = rectified(part);
    if (Type type = float8(b, to))
      part = asInteger(triton::FpToFpOp::create(
          b, like(type), part,
          triton::RoundingModeAttr::get(b.getContext(),
                                        triton::RoundingMode::RTNE)));
    else
      part = isScale ? toScale(part, isUp) : toFloat4(part);
  }
  Value both = bor(resized(parts[0], 2 * type(0).bits),
                   left(resized(parts[1], 2 * type(0).bits), type(0).bits));
  write(both);
}

/// Returns the code of the nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6, with the
/// sign; on a tie, the even code. NaN is 6.
Value Emitter::toFloat4(Value x) {
  Value size = absolute(x), code = constant(4, 0);
  std::pair<double, bool> limits[] = {
      {0.25, false}, {0.75, true}, {1.25, false}, {1.75, true},
      {2.5, false},  {3.5, true},  {5, false}};
  for (auto [limit, isIn] : limits)
    code = add(code, resized(is(isIn ? F::OGE : F::OGT, size,
                                number(x.getType(), limit)),
                             4));
  Value sign = resized(left(right(asInteger(x), 31u), 3u), 4);
  return select(isNaN(x), constant(4, 7), bor(code, sign));
}

/// Returns the exponent of f32, plus 1 if rounding up changes it. The sign does
/// not count; the largest is 254, and NaN is 255.
Value Emitter::toScale(Value x, bool isUp) {
  Value bits = band(asInteger(x), 0x7fffffff), code = right(bits, 23u);
  if (isUp) {
    Value fraction = band(bits, 0x7fffff);
    // 2^-127, whose exponent in f32 is 0, has a code: 0.
    Value limit =
        select(is(I::eq, code, 0), constant(32, 0x400000), constant(32, 0));
    code = add(code, resized(is(I::ugt, fraction, limit), 32));
  }
  code = minimum(code, constant(32, 254), false);
  return resized(select(isNaN(x), constant(32, 255), code), 8);
}
