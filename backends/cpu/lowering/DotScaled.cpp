// SPDX-License-Identifier: Apache-2.0
//
// Products of scaled narrow floats: the operands are converted to f32 element
// by element, then multiplied as f32. The code aims at correctness, not speed.

#include "Roots.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

using Kind = triton::ScaleDotElemType;

/// Returns the number of elements along K; a byte may hold two of them.
static int64_t depthOf(triton::DotScaledOp op) {
  int64_t depth = cast<RankedTensorType>(op.getA().getType()).getShape().back();
  bool isPacked = op.getAElemType() == Kind::E2M1 && op.getLhsKPack();
  return isPacked ? 2 * depth : depth;
}

/// Converts an e2m1 to f32. An e2m1 has a sign bit, two bits of exponent (bias
/// 1) and one bit of mantissa. It is the low half of `code`, or the high half
/// if `isHigh` is set.
static Value fromFloat4(LaneBuilder &b, Value code, Value isHigh) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value wide = arith::ExtUIOp::create(b, i32, code);
  Value shift = arith::ShLIOp::create(
      b, arith::TruncIOp::create(b, i32, isHigh), b.constant(i32, 2));
  Value bits = arith::ShRUIOp::create(b, wide, shift);
  Value magnitude = arith::AndIOp::create(b, bits, b.constant(i32, 7));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, bits, b.constant(i32, 8)),
      b.constant(i32, 28));
  // Shift exponent and mantissa to their places in f32, then multiply to change
  // the bias. This is exact, also for denormals.
  Value number = arith::BitcastOp::create(
      b, f32, arith::ShLIOp::create(b, magnitude, b.constant(i32, 22)));
  number = arith::MulFOp::create(b, number,
                                 b.floatConstant(f32, std::ldexp(1.0, 126)));
  return arith::BitcastOp::create(
      b, f32,
      arith::OrIOp::create(b, arith::BitcastOp::create(b, i32, number), sign));
}

/// Returns 2^(code - 127) as f32; NaN for the code 255.
static Value powerOfTwo(LaneBuilder &b, Value code) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value wide = arith::ExtUIOp::create(b, i32, code);
  Value exponent = arith::BitcastOp::create(
      b, f32, arith::ShLIOp::create(b, wide, b.constant(i32, 23)));
  auto equals = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wide,
                                 b.constant(i32, value));
  };
  Value isZero = equals(0), isNan = equals(255);
  Value factor = arith::SelectOp::create(
      b, isZero, b.floatConstant(f32, std::ldexp(1.0, -127)), exponent);
  return arith::SelectOp::create(b, isNan, b.floatConstant(f32, NAN), factor);
}

/// Returns `batch` with the coordinates `first` and `second` appended.
static Coords inBatch(const Coords &batch, Value first, Value second) {
  Coords at = batch;
  at.append({Lanes::uniform(first), Lanes::uniform(second)});
  return at;
}

/// Returns element (row, k) of one operand as f32, without its scale. `batch`
/// has the coordinates that come before these two.
Value DotLowering::element(triton::DotScaledOp op, bool isLeft,
                           const Coords &batch, Value row, Value k) {
  Value operand = isLeft ? op.getA() : op.getB();
  Kind kind = isLeft ? op.getAElemType() : op.getBElemType();
  bool kPack = isLeft ? op.getLhsKPack() : op.getRhsKPack();
  auto half = [&](Value v) -> Value {
    return arith::ShRUIOp::create(b, v, b.constant(v.getType(), 1));
  };
  bool isPacked = kind == Kind::E2M1;
  Value r = isPacked && !kPack ? half(row) : row;
  Value c = isPacked && kPack ? half(k) : k;
  Coords at = isLeft ? inBatch(batch, r, c) : inBatch(batch, c, r);
  Value bits = b.toScalar(evaluator.eval(operand, at));
  switch (kind) {
  case Kind::E4M3:
    return conversion.fromFloat8(bits, Float8E4M3FNType::get(b.getContext()));
  case Kind::E5M2:
    return conversion.fromFloat8(bits, Float8E5M2Type::get(b.getContext()));
  case Kind::BF16:
  case Kind::FP16:
    return conversion.convert(op, bits, getElementTypeOrSelf(operand.getType()),
                              b.getF32Type());
  case Kind::E2M1:
    // A byte holds two elements, the first one in its low half.
    return fromFloat4(b, bits,
                      arith::AndIOp::create(b, kPack ? k : row,
                                            b.constant(b.getI64Type(), 1)));
  default:
    return context.error(op, "operands of 6 bits are not supported on the CPU");
  }
}

/// Returns the element times the scale of its group.
Value DotLowering::scaledElement(triton::DotScaledOp op, bool isLeft,
                                 const Coords &batch, Value row, Value k) {
  Value value = element(op, isLeft, batch, row, k);
  Value scale = isLeft ? op.getAScale() : op.getBScale();
  if (!scale || context.hasFailed())
    return value;
  auto type = cast<RankedTensorType>(scale.getType());
  int64_t group = depthOf(op) / type.getShape().back();
  Value index = arith::ShRUIOp::create(
      b, k, b.constant(k.getType(), llvm::Log2_64(group)));
  Value code = b.toScalar(evaluator.eval(scale, inBatch(batch, row, index)));
  Value factor =
      type.getElementType().isInteger(8)
          ? powerOfTwo(b, code)
          : conversion.convert(op, code, type.getElementType(), b.getF32Type());
  return arith::MulFOp::create(b, value, factor);
}

void DotLowering::lower(triton::DotScaledOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Type f32 = b.getF32Type(), result = type.getElementType();
  SmallVector<int64_t> leftShape(type.getShape()), rightShape(leftShape);
  leftShape.back() = depthOf(op);
  rightShape.end()[-2] = depthOf(op);
  Buffer left = scratch.allocate(f32, leftShape);
  Buffer right = scratch.allocate(f32, rightShape);
  Buffer sum = scratch.allocate(f32, type.getShape());
  for (bool isLeft : {true, false}) {
    const Buffer &target = isLeft ? left : right;
    tiles.forTile(
        target.shape, type.getRank() - 1,
        [&](const Coords &at) {
          Coords batch(ArrayRef(at).drop_back(2));
          Value row = at.end()[isLeft ? -2 : -1].base;
          Value k = at.end()[isLeft ? -1 : -2].base;
          Value value = scaledElement(op, isLeft, batch, row, k);
          scratch.store(target, at, Lanes::uniform(value));
        },
        /*maxLanes=*/1);
  }
  convertTo(op, op.getC(), sum);
  multiply(left, right, sum);
  if (result != f32) {
    Buffer narrow = scratch.allocate(loweredType(result), type.getShape());
    convertSum(op, sum, narrow);
    sum = narrow;
  }
  context.buffers[op.getResult()] = sum;
}
