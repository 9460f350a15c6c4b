// SPDX-License-Identifier: Apache-2.0
//
// Evaluates operations that rearrange elements and compute the coordinates of
// their operand: join, cat, gather and reshape.

#include "Evaluator.h"

#include "Operations.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Evaluates the operand that contains the lanes. If that is known only at run
/// time, evaluates both operands and selects.
Lanes Evaluator::evalJoined(Operation *op, const Coords &coords) {
  // `which` is the number of the operand, `inner` the coordinates in it.
  Coords inner = coords;
  Lanes which;
  if (isa<triton::JoinOp>(op)) {
    which = inner.pop_back_val();
  } else {
    int64_t size =
        cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(0);
    auto split = [&](Lanes lanes, bool high) {
      auto part = [&](Value value) -> Value {
        if (high)
          return b.createOrFold<arith::ShRUIOp>(
              value, b.constant(value.getType(), llvm::Log2_64(size)));
        return b.createOrFold<arith::AndIOp>(
            value, b.constant(value.getType(), size - 1));
      };
      if (!arithmetic.hasDisjointBits(lanes))
        return Lanes::vector(part(b.toVector(lanes)));
      lanes.base = part(lanes.base);
      for (int64_t &p : lanes.pattern)
        p = high ? p / size : p % size;
      return arithmetic.normalize(lanes);
    };
    which = split(inner[0], true);
    inner[0] = split(coords[0], false);
  }
  APInt number;
  if (which.isUniform() && matchPattern(which.base, m_ConstantInt(&number)))
    return eval(op->getOperand(number.getZExtValue()), inner);
  Lanes lhs = eval(op->getOperand(0), inner);
  Lanes rhs = eval(op->getOperand(1), inner);
  Value choice = which.isUniform() ? which.base : b.toVector(which);
  Value isRight = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, choice,
                                        b.constant(choice.getType(), 0));
  return b.select(which.isUniform() ? Lanes::uniform(isRight)
                                    : Lanes::vector(isRight),
                  rhs, lhs);
}

Lanes Evaluator::evalGather(triton::GatherOp gather, const Coords &coords) {
  Type i64 = b.getI64Type();
  Lanes index = eval(gather.getIndices(), coords);
  int axis = gather.getAxis();
  int64_t size = gather.getSrc().getType().getDimSize(axis);
  auto widen = [&](Value value) {
    Type wide = like(value, i64);
    if (value.getType() != wide)
      value = arith::ExtUIOp::create(b, wide, value);
    // An index out of bounds is an error in the kernel, but it must not crash.
    return Value(arith::AndIOp::create(b, value, b.constant(wide, size - 1)));
  };
  Coords inner = coords;
  inner[axis] = index.isUniform() ? Lanes::uniform(widen(index.base))
                                  : Lanes::vector(widen(b.toVector(index)));
  return eval(gather.getSrc(), inner);
}

Lanes Evaluator::evalReshape(triton::ReshapeOp op, const Coords &coords) {
  auto from = op.getType(), to = op.getSrc().getType();
  // The coordinates are emitted once for each pair of types and coordinates.
  Reshape key{from, to, coordIds(coords)};
  for (auto &[known, inner] : scope->reshapes)
    if (known == key)
      return eval(op.getSrc(), inner);

  Lanes linear = Lanes::uniform(b.zero());
  int64_t stride = 1;
  for (int i = from.getRank() - 1; i >= 0; --i) {
    if (from.getDimSize(i) > 1)
      linear = arithmetic.add(linear, arithmetic.scale(coords[i], stride));
    stride *= from.getDimSize(i);
  }
  Coords inner(to.getRank());
  stride = 1;
  bool disjoint = arithmetic.hasDisjointBits(linear);
  for (int i = to.getRank() - 1; i >= 0; --i) {
    int64_t size = to.getDimSize(i);
    auto part = [&](Value value) -> Value {
      if (stride > 1)
        value = b.createOrFold<arith::ShRUIOp>(
            value, b.constant(value.getType(), llvm::Log2_64(stride)));
      if (i > 0)
        value = b.createOrFold<arith::AndIOp>(
            value, b.constant(value.getType(), size - 1));
      return value;
    };
    if (size == 1) {
      inner[i] = Lanes::uniform(b.zero());
    } else if (disjoint) {
      inner[i] = Lanes::uniform(part(linear.base));
      for (int64_t p : linear.pattern)
        inner[i].pattern.push_back(p / stride % size);
      inner[i] = arithmetic.normalize(inner[i]);
    } else {
      inner[i] = Lanes::vector(part(b.toVector(linear)));
    }
    stride *= size;
  }
  scope->reshapes.emplace_back(key, inner);
  return eval(op.getSrc(), inner);
}
