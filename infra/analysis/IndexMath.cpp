// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on index or i64 values that folds constants.

#include "analysis/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;

/// Computes the third number from the first two; returns false if it overflows.
using Fold = bool (*)(int64_t, int64_t, int64_t &);

template <typename OpTy>
static OpFoldResult combine(IndexMath &math, OpFoldResult a, OpFoldResult b,
                            Fold fold) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  int64_t result;
  if (x && y && fold(*x, *y, result))
    return math.number(result);
  return OpTy::create(math.builder, math.loc, math.toValue(a), math.toValue(b))
      .getResult();
}

OpFoldResult IndexMath::add(OpFoldResult a, OpFoldResult b) {
  if (isConstantIntValue(a, 0))
    return b;
  if (isConstantIntValue(b, 0))
    return a;
  return combine<arith::AddIOp>(*this, a, b,
                                [](int64_t x, int64_t y, int64_t &result) {
                                  return !llvm::AddOverflow(x, y, result);
                                });
}

OpFoldResult IndexMath::sub(OpFoldResult a, OpFoldResult b) {
  if (isConstantIntValue(b, 0))
    return a;
  if (isa<Value>(a) && a == b)
    return number(0);
  return combine<arith::SubIOp>(*this, a, b,
                                [](int64_t x, int64_t y, int64_t &result) {
                                  return !llvm::SubOverflow(x, y, result);
                                });
}

OpFoldResult IndexMath::mul(OpFoldResult a, OpFoldResult b) {
  if (isConstantIntValue(a, 0) || isConstantIntValue(b, 1))
    return a;
  if (isConstantIntValue(b, 0) || isConstantIntValue(a, 1))
    return b;
  return combine<arith::MulIOp>(*this, a, b,
                                [](int64_t x, int64_t y, int64_t &result) {
                                  return !llvm::MulOverflow(x, y, result);
                                });
}

OpFoldResult IndexMath::rem(OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> divisor = getConstantIntValue(b);
  if (isConstantIntValue(a, 0) || divisor == 0)
    return a;
  if (!divisor) {
    // Division by 0 is undefined, so divide by 1 and choose afterwards.
    Value zero = toValue(number(0)), by = toValue(b);
    Value isZero =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, by, zero);
    OpFoldResult safe = choose(isZero, number(1), b);
    Value result =
        arith::RemSIOp::create(builder, loc, toValue(a), toValue(safe));
    return choose(isZero, a, result);
  }
  return combine<arith::RemSIOp>(*this, a, b,
                                 [](int64_t x, int64_t y, int64_t &result) {
                                   result = y == -1 ? 0 : x % y;
                                   return true;
                                 });
}

OpFoldResult IndexMath::min(OpFoldResult a, OpFoldResult b) {
  if (a == b)
    return a;
  return combine<arith::MinSIOp>(*this, a, b,
                                 [](int64_t x, int64_t y, int64_t &result) {
                                   result = std::min(x, y);
                                   return true;
                                 });
}

OpFoldResult IndexMath::max(OpFoldResult a, OpFoldResult b) {
  if (a == b)
    return a;
  return combine<arith::MaxSIOp>(*this, a, b,
                                 [](int64_t x, int64_t y, int64_t &result) {
                                   result = std::max(x, y);
                                   return true;
                                 });
}

OpFoldResult IndexMath::choose(Value condition, OpFoldResult whenTrue,
                               OpFoldResult whenFalse) {
  if (isEqualConstantIntOrValue(whenTrue, whenFalse))
    return whenTrue;
  return arith::SelectOp::create(builder, loc, condition, toValue(whenTrue),
                                 toValue(whenFalse))
      .getResult();
}

bool IndexMath::canUse(Value value) const {
  return value.getParentRegion()->isAncestor(
      builder.getInsertionBlock()->getParent());
}

Value IndexMath::reach(Value value) {
  if (canUse(value))
    return value;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isPure(op) || !spend())
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (isa<ShapedType>(operand.getType()))
      return {};
    operands.push_back(reach(operand));
    if (!operands.back())
      return {};
  }
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  return copy->getResult(0);
}

OpFoldResult IndexMath::fromInteger(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return number(constant.getSExtValue());
  if (value.getType() == type)
    return value;
  if (type.isIndex() || value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value).getResult();
  return arith::ExtSIOp::create(builder, loc, type, value).getResult();
}

Value IndexMath::toValue(OpFoldResult value) {
  // A number may come from an attribute of another type.
  if (auto constant = dyn_cast<Attribute>(value))
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type, cast<IntegerAttr>(constant).getInt()));
  return cast<Value>(value);
}
