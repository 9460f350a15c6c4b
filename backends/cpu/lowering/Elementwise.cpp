// SPDX-License-Identifier: Apache-2.0
//
// Address arithmetic keeps the form base + pattern; everything else becomes the
// same operation on scalars or vectors (Compute.cpp).

#include "Elementwise.h"

#include "Operations.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns the result of address arithmetic as base + pattern; empty Lanes if
/// it is not known to have this form. If it has the form only under a
/// condition, sets `holds` and `exact`.
Lanes Elementwise::pattern(Operation *op, ArrayRef<Lanes> operands) {
  if (llvm::any_of(operands, [](const Lanes &l) { return bool(l.vec); }))
    return {};
  Lanes result = patternOf(op, operands);
  if (!result)
    return {};
  for (const Lanes &operand : operands)
    if (operand.holds && result.holds)
      result.holds = b.createOrFold<arith::AndIOp>(result.holds, operand.holds);
    else if (operand.holds)
      result.holds = operand.holds;
  if (!result.holds)
    return result;
  SmallVector<Value> values;
  for (const Lanes &operand : operands)
    values.push_back(b.toVector(operand));
  Type type = loweredType(op->getResult(0).getType());
  Value exact = compute(op, values, VectorType::get(b.lanes(), type));
  // As uniform lanes, these would be accessed only once. But if the condition
  // is false, their addresses differ.
  if (result.isUniform())
    return Lanes::vector(exact);
  result.exact = exact;
  return result;
}

/// Returns the result as base + pattern if its operands have this form. `holds`
/// is the condition of this operation alone, without the conditions of its
/// operands.
Lanes Elementwise::patternOf(Operation *op, ArrayRef<Lanes> operands) {
  auto scalar = [&](ValueRange values) {
    return compute(op, values, loweredType(op->getResult(0).getType()));
  };
  auto constantOf = [&](const Lanes &lanes, APInt &number) {
    return lanes.isUniform() &&
           matchPattern(lanes.base, m_ConstantInt(&number));
  };
  Lanes result;
  APInt number;
  if (isa<arith::AddIOp>(op))
    return arithmetic.add(operands[0], operands[1]);
  if (isa<arith::SubIOp>(op)) {
    result = Lanes::uniform(scalar({operands[0].base, operands[1].base}));
    result.pattern.assign(b.lanes(), 0);
    for (auto [i, p] : llvm::enumerate(operands[0].pattern))
      result.pattern[i] += p;
    for (auto [i, p] : llvm::enumerate(operands[1].pattern))
      result.pattern[i] -= p;
    return arithmetic.normalize(result);
  }
  if (isa<arith::MulIOp>(op)) {
    if (constantOf(operands[1], number))
      return arithmetic.scale(operands[0], number.getSExtValue());
    if (constantOf(operands[0], number))
      return arithmetic.scale(operands[1], number.getSExtValue());
    return productPattern(op, operands);
  }
  if (isa<arith::ShLIOp>(op) && constantOf(operands[1], number)) {
    // A shift by the width or more gives 0, as on a GPU.
    bool isOut = number.uge(number.getBitWidth());
    return arithmetic.scale(operands[0],
                            isOut ? 0 : int64_t(1) << number.getZExtValue());
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
    if (loweredType(op->getResult(0).getType()).getIntOrFloatBitWidth() < 32)
      return {};
    result = Lanes::uniform(scalar({operands[0].base}));
    result.pattern = operands[0].pattern;
    // A truncation keeps the form, since lanes count modulo 2^width. An
    // extension does not keep it if some lanes wrap around. For example, in
    // `uint32(i - n)`, the lanes before n wrap, and once extended they are 2^32
    // apart from the others.
    if (!isa<arith::TruncIOp>(op) && !arithmetic.neverWraps(operands[0]))
      result.holds = isa<arith::ExtUIOp>(op)
                         ? arithmetic.staysUnsigned(operands[0])
                         : arithmetic.staysSigned(operands[0]);
    return arithmetic.normalize(result);
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return remainderPattern(op, operands);
  if (auto add = dyn_cast<triton::AddPtrOp>(op))
    return addressPattern(add, operands);
  return {};
}

/// Returns the product of a contiguous pattern and one factor for all lanes.
/// The factor is often a stride, which is 1 where the launch did not tell the
/// compiler.
Lanes Elementwise::productPattern(Operation *op, ArrayRef<Lanes> operands) {
  bool isFirst = operands[0].isPattern();
  const Lanes &lanes = operands[isFirst ? 0 : 1];
  const Lanes &factor = operands[isFirst ? 1 : 0];
  Type type = loweredType(op->getResult(0).getType());
  if (!lanes.isPattern() || !factor.isUniform() ||
      type.getIntOrFloatBitWidth() < 32)
    return {};
  Lanes result = Lanes::uniform(compute(op, {lanes.base, factor.base}, type));
  result.pattern = lanes.pattern;
  result.holds = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, factor.base,
                                       b.constant(type, 1));
  return result;
}

/// Returns the remainder of a pattern by one divisor for all lanes.
Lanes Elementwise::remainderPattern(Operation *op, ArrayRef<Lanes> operands) {
  if (!operands[0].isPattern() || !operands[1].isUniform())
    return {};
  if (operands[0].exact)
    return {};
  // The remainder of base + p is the remainder of the base, plus p, because no
  // multiple of the divisor lies in (base, base + p]: base and divisor are both
  // multiples of `common`, and 0 <= p < common. For example, from the base 32
  // on, the remainders by 16 of the next 16 lanes are 0, 1, ..., 15.
  int64_t common = std::min(context.facts.divisor(operands[0].base),
                            context.facts.divisor(operands[1].base));
  if (llvm::any_of(operands[0].pattern,
                   [&](int64_t p) { return p < 0 || p >= common; }))
    return {};
  Lanes result =
      Lanes::uniform(compute(op, {operands[0].base, operands[1].base},
                             loweredType(op->getResult(0).getType())));
  result.pattern = operands[0].pattern;
  // The signed remainder does not keep the form below zero, where it jumps
  // after each multiple of the divisor: the remainders of -32 and -31 by 32 are
  // 0 and -31.
  if (isa<arith::RemSIOp>(op) && !context.facts.limit(operands[0].base))
    result.holds =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, operands[0].base,
                              b.constant(operands[0].base.getType(), 0));
  return result;
}

Lanes Elementwise::addressPattern(triton::AddPtrOp op,
                                  ArrayRef<Lanes> operands) {
  Lanes result;
  int64_t bytes = pointeeBytes(op.getType());
  Lanes by = operands[1];
  Type i64 = b.getI64Type();
  if (by.base.getType() != i64) {
    if (!arithmetic.neverWraps(by))
      result.holds = arithmetic.staysSigned(by);
    by.base = b.createOrFold<arith::ExtSIOp>(i64, by.base);
  }
  by = arithmetic.scale(by, bytes);
  result.base = b.offset(operands[0].base, by.base);
  result.pattern = operands[0].pattern;
  if (by.isPattern()) {
    result.pattern.resize(b.lanes(), 0);
    for (auto [i, p] : llvm::enumerate(by.pattern))
      result.pattern[i] += p;
  }
  return arithmetic.normalize(result);
}

Lanes Elementwise::apply(Operation *op, ArrayRef<Lanes> operands) {
  Type element = loweredType(op->getResult(0).getType());
  bool isUniform = llvm::all_of(
      operands, [](const Lanes &lanes) { return lanes.isUniform(); });
  // SplitPoints makes masks true.
  if (isa<arith::AndIOp>(op))
    for (int i : {0, 1})
      if (operands[i].isUniform() && matchPattern(operands[i].base, m_One()) &&
          element.isInteger(1))
        return operands[1 - i];
  if (isa<triton::AddPtrOp>(op) || !isUniform)
    if (Lanes lanes = pattern(op, operands))
      return lanes;
  if (isa<arith::DivFOp>(op) && element.isF32() && !isUniform &&
      operands[1].isUniform())
    return Lanes::vector(divideBy(b.toVector(operands[0]), operands[1].base));
  SmallVector<Value> values;
  for (const Lanes &lanes : operands)
    values.push_back(isUniform ? lanes.base : b.toVector(lanes));
  if (isUniform)
    return Lanes::uniform(compute(op, values, element));
  int n = b.lanes();
  return Lanes::vector(compute(
      op, values, n == 1 ? element : Type(VectorType::get(n, element))));
}

Lanes Elementwise::constant(arith::ConstantOp op) {
  Type element = loweredType(op.getType());
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    value = dense.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (isa<IntegerType>(element)) // the float is lowered to its bits
      return Lanes::uniform(arith::ConstantOp::create(
          b, b.getIntegerAttr(element, number.getValue().bitcastToAPInt())));
    return Lanes::uniform(arith::ConstantOp::create(b, number));
  }
  if (!isa<IntegerAttr>(value) || !isa<IntegerType>(element))
    return Lanes::uniform(context.error(
        op, "a constant of this type is not supported on the CPU"));
  return Lanes::uniform(arith::ConstantOp::create(b, cast<IntegerAttr>(value)));
}
