// SPDX-License-Identifier: Apache-2.0
//
// One rule for each operation of arith. Integers wrap around: a rule that does
// not say otherwise must hold modulo 2^width.

#include "Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// The loop whose induction variable `value` is; null if it is not one.
static scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
  return loop && argument == loop.getInductionVar() ? loop : scf::ForOp();
}

void Facts::setDivisor(Value value, int64_t divisor) {
  // Of 48, 16 remains: sums and minima of divisors are right for powers of two.
  divisors[value] = std::min(maxDivisor, divisor & -divisor);
}

void Facts::setLimit(Value value, uint64_t limit) {
  limits[value] = APInt(cast<IntegerType>(value.getType()).getWidth(), limit);
}

int64_t Facts::divisor(Value value, int depth) const {
  if (depth > 8)
    return 1;
  if (auto it = divisors.find(value); it != divisors.end())
    return it->second;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.isZero()
               ? maxDivisor
               : std::min(maxDivisor,
                          int64_t(1) << std::min(20u, number.countr_zero()));
  if (auto loop = loopOf(value))
    return std::min(divisor(loop.getLowerBound(), depth + 1),
                    divisor(loop.getStep(), depth + 1));
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  auto of = [&](int i) { return divisor(op->getOperand(i), depth + 1); };
  // A remainder is the dividend minus a multiple of the divisor.
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::RemSIOp, arith::RemUIOp>(op))
    return std::min(of(0), of(1));
  if (isa<arith::MulIOp>(op))
    return std::min(maxDivisor, of(0) * of(1));
  if (isa<arith::AndIOp>(op))
    return std::max(of(0), of(1));
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return of(0);
  if (isa<arith::SelectOp>(op))
    return std::min(of(1), of(2));
  APInt shift;
  if (!isa<arith::ShLIOp, arith::ShRUIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&shift)))
    return 1;
  int64_t by = shift.getLimitedValue(20);
  if (isa<arith::ShLIOp>(op))
    return std::min(maxDivisor, of(0) << by);
  return std::max<int64_t>(1, of(0) >> by);
}

std::optional<APInt> Facts::limit(Value value, int depth) const {
  auto type = dyn_cast<IntegerType>(value.getType());
  if (!type || type.getWidth() < 2 || depth > 12)
    return std::nullopt;
  unsigned width = type.getWidth();
  using Limit = std::optional<APInt>;
  if (auto it = limits.find(value); it != limits.end())
    return it->second;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.isNegative() ? Limit() : number;
  if (auto loop = loopOf(value)) {
    if (loop.getUnsignedCmp() || !limit(loop.getLowerBound(), depth + 1))
      return std::nullopt;
    Limit upper = limit(loop.getUpperBound(), depth + 1);
    if (!upper || upper->isZero())
      return APInt::getSignedMaxValue(width);
    // Every value is a multiple of the divisor.
    APInt last = *upper - 1;
    return last - last.urem(divisor(value, depth));
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto of = [&](int i) { return limit(op->getOperand(i), depth + 1); };
  // A number at most as large as both, if both are known.
  auto least = [](Limit a, Limit b) {
    return a && b ? llvm::APIntOps::umin(*a, *b) : a ? *a : b;
  };
  if (isa<arith::AddIOp, arith::MulIOp>(op)) {
    Limit a = of(0), b = a ? of(1) : Limit();
    bool overflow = false;
    if (!b)
      return std::nullopt;
    APInt most = isa<arith::AddIOp>(op) ? a->sadd_ov(*b, overflow)
                                        : a->smul_ov(*b, overflow);
    return overflow ? Limit() : most;
  }
  if (isa<arith::RemSIOp>(op)) // has the sign of what is divided
    return of(0);
  if (isa<arith::RemUIOp>(op)) // of a negative one, read as a large number
    return least(of(0), of(1));
  if (isa<arith::DivSIOp>(op))
    return of(1) ? of(0) : Limit();
  if (isa<arith::DivUIOp>(op))
    return of(0);
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return least(of(0), of(1));
  if (isa<arith::MinSIOp>(op)) {
    Limit a = of(0), b = a ? of(1) : Limit();
    return b ? least(a, b) : b;
  }
  if (isa<arith::SelectOp, arith::MaxSIOp>(op)) {
    bool isSelect = isa<arith::SelectOp>(op);
    Limit a = of(isSelect ? 1 : 0), b = of(isSelect ? 2 : 1);
    if (a && b)
      return llvm::APIntOps::umax(*a, *b);
    return !isSelect && (a || b) ? APInt::getSignedMaxValue(width) : Limit();
  }
  if (isa<arith::ExtUIOp>(op)) {
    unsigned from = cast<IntegerType>(op->getOperand(0).getType()).getWidth();
    Limit inner = of(0);
    return inner ? inner->zext(width) : APInt::getLowBitsSet(width, from);
  }
  if (isa<arith::ExtSIOp>(op)) {
    Limit inner = of(0);
    return inner ? inner->zext(width) : Limit();
  }
  if (isa<arith::TruncIOp>(op)) {
    // 2^31 in 64 bits is negative in 32.
    Limit inner = of(0);
    return inner && inner->isIntN(width - 1) ? inner->trunc(width) : Limit();
  }
  return std::nullopt;
}
