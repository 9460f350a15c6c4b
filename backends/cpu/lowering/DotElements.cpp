// SPDX-License-Identifier: Apache-2.0
//
// The elements of operands as elements of words: in the type that the unit
// multiplies, or as the parts that it multiplies one by one.

#include "DotPacking.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

Value mlir::triton_ext::cpu::interleave(LaneBuilder &b,
                                        ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  // Halves are interleaved first, then the results: (a c) and (b d), then
  // (a b c d).
  SmallVector<Value> even, odd;
  for (auto [i, vector] : llvm::enumerate(vectors))
    (i % 2 ? odd : even).push_back(vector);
  Value first = interleave(b, even), second = interleave(b, odd);
  int size = cast<VectorType>(first.getType()).getNumElements();
  SmallVector<int32_t> mask;
  for (int i = 0; i < size; ++i)
    mask.append({i, size + i});
  return b.shuffle(first, second, mask);
}

/// Returns the upper halves of an f32 or of its bits.
static Value upperHalf(LaneBuilder &b, Value value) {
  Type i32 = like(value, b.getI32Type());
  if (value.getType() != i32)
    value = arith::BitcastOp::create(b, i32, value);
  value = arith::ShRUIOp::create(b, value, b.constant(i32, 16));
  return arith::TruncIOp::create(b, like(value, b.getI16Type()), value);
}

Value DotPacking::narrow(Value value, Type from, bool isLeft) {
  if (unit.isFloats())
    return conversion.convert(op, value, from, unit.element);
  if (auto floating = dyn_cast<FloatType>(from)) {
    if (floating.getWidth() > 8)
      return value;
    // bf16 represents every 8-bit float, so the upper half of the f32 suffices.
    Value wide = conversion.convert(op, value, from, b.getF32Type());
    return upperHalf(b, wide);
  }
  if (unit.kind == DotUnit::Kind::Pairs)
    return arith::ExtSIOp::create(b, like(value, unit.element), value);
  // The left bytes are unsigned: x + 128 for x.
  if (unit.kind == DotUnit::Kind::Bytes && isLeft)
    return arith::XOrIOp::create(b, value, b.constant(value.getType(), 0x80));
  return value;
}

SmallVector<Value> DotPacking::split(Value rest) {
  Type f32 = rest.getType(), i32 = like(rest, b.getI32Type());
  auto constant = [&](uint32_t bits) { return b.constant(i32, int32_t(bits)); };
  SmallVector<Value> parts;
  for (int64_t part = 1; part < unit.parts; ++part) {
    Value bits = arith::BitcastOp::create(b, i32, rest);
    Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, rest,
                                         LLVM::ZeroOp::create(b, f32));
    // The next number toward zero has the exponent of this part, and ones
    // instead of the zeros at the end of the mantissa.
    Value below = arith::SelectOp::create(
        b, isZero, bits, arith::AddIOp::create(b, bits, constant(-1)));
    Value kept = arith::OrIOp::create(b, bits, constant(0xff800000));
    Value high = arith::AndIOp::create(b, below, kept);
    high = arith::AndIOp::create(b, high, constant(0xffff0000));
    parts.push_back(upperHalf(b, high));
    rest =
        arith::SubFOp::create(b, rest, arith::BitcastOp::create(b, f32, high));
  }
  parts.push_back(upperHalf(b, rest));
  return parts;
}

SmallVector<Value> DotPacking::evaluate(Value operand, const Coords &at,
                                        bool isLeft) {
  // What a stored operand was rounded from may have changed since: it is loaded
  // where the operand is stored, and a store may lie between there and here.
  if (Value wide = roundedFrom(context.target, unit, operand);
      wide && !plan.isStored(operand)) {
    Value value = b.toVector(evaluator.eval(wide, at));
    auto vector = dyn_cast<VectorType>(value.getType());
    if (vector && vector.getNumElements() >= 8)
      return {roundToBrainFloats(b, value)};
  }
  Value value = b.toVector(evaluator.eval(operand, at));
  Type type = getElementTypeOrSelf(operand.getType());
  if (unit.isSplit())
    return split(conversion.convert(op, value, type, b.getF32Type()));
  value = narrow(value, type, isLeft);
  if (!isLeft || !unit.repeatsLeft())
    return {value};
  return {isa<VectorType>(value.getType()) ? interleave(b, {value, value})
                                           : b.splat(value, 2)};
}
