// SPDX-License-Identifier: Apache-2.0

#include "Known.h"
#include "analysis/IntegerFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using mlir::triton_ext::analysis::IntegerFacts;

bool mlir::triton_ext::loop_split::isMultipleOf(Value value,
                                                const APInt &factor) {
  int64_t divisor = IntegerFacts().divisor(value);
  return factor.logBase2() <= llvm::Log2_64(divisor);
}

void Sum::add(Value value, const APInt &factor,
              llvm::function_ref<bool(Value)> isTerm, unsigned depth) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    constant += factor * number.sext(wideBits);
    return;
  }
  bool isWhole = depth == 0 || isTerm(value);
  Operation *op = isWhole ? nullptr : value.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    add(op->getOperand(0), factor, isTerm, depth - 1);
    add(op->getOperand(1), isa<arith::AddIOp>(op) ? factor : -factor, isTerm,
        depth - 1);
    return;
  }
  if (isa_and_nonnull<arith::MulIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&number))) {
    add(op->getOperand(0), factor * number.sext(wideBits), isTerm, depth - 1);
    return;
  }
  terms.try_emplace(value, APInt::getZero(wideBits)).first->second += factor;
}

static bool isSpeculated(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasAttr(speculatedAttr);
}

/// Cancels pairs of `num_programs(axis) - program_id(axis)`, which are at least
/// 1: the ranges of both begin near zero and tell nothing of the difference.
static void cancelPrograms(Sum &sum) {
  for (auto &[one, negative] : sum.terms)
    for (auto &[other, positive] : sum.terms) {
      auto program = one.getDefiningOp<triton::GetProgramIdOp>();
      auto programs = other.getDefiningOp<triton::GetNumProgramsOp>();
      if (!program || !programs || program.getAxis() != programs.getAxis() ||
          !negative.isNegative() || !positive.isStrictlyPositive())
        continue;
      APInt count = llvm::APIntOps::smin(-negative, positive);
      negative += count;
      positive -= count;
      sum.constant += count;
    }
}

/// Whether the sum is not negative: its least value is the sum of the least
/// values of its terms.
static bool
isNonNegative(Sum sum, llvm::function_ref<ConstantIntRanges(Value)> rangeOf) {
  cancelPrograms(sum);
  APInt least = sum.constant;
  for (const auto &[value, factor] : sum.terms) {
    if (factor.isZero())
      continue;
    // The product with a number of 64 bits must have at most `wideBits`: the
    // factor has at most half of them, which is more than enough.
    if (factor.getSignificantBits() > wideBits / 2)
      return false;
    ConstantIntRanges range = rangeOf(value);
    const APInt &end = factor.isNegative() ? range.smax() : range.smin();
    if (end.getBitWidth() > 64)
      return false;
    least += factor * end.sext(wideBits);
  }
  return least.isNonNegative();
}

namespace {
/// Facts about integers under the assumption that only speculated operations
/// may wrap.
class NoWrapFacts : public IntegerFacts {
protected:
  bool neverWraps(Operation *op) const override {
    return !op->hasAttr(speculatedAttr);
  }

  /// Finds that a sum is not negative although its operands may be. Rules look
  /// at one operation and so do not see that terms cancel each other. Example:
  /// `x - y + y` for an x that is not negative.
  ConstantIntRanges refine(Value value, const ConstantIntRanges &known,
                           RangeFn rangeOf) const override {
    Operation *op = value.getDefiningOp();
    if (!known.smin().isNegative() ||
        !isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
        !isa<IntegerType, IndexType>(value.getType()))
      return known;
    Sum sum;
    sum.add(value, APInt(wideBits, 1), isSpeculated);
    if (sum.terms.contains(value) || !isNonNegative(std::move(sum), rangeOf))
      return known;
    unsigned width = known.smin().getBitWidth();
    return triton_ext::analysis::meet(
        known, ConstantIntRanges::fromSigned(APInt::getZero(width),
                                             APInt::getSignedMaxValue(width)));
  }
};
} // namespace

bool mlir::triton_ext::loop_split::isAtMost(Value lhs, Value rhs,
                                            unsigned depth) {
  if (lhs == rhs)
    return true;
  if (depth-- == 0)
    return false;
  auto isBelow = [&](Value value) { return isAtMost(value, rhs, depth); };
  auto isAbove = [&](Value value) { return isAtMost(lhs, value, depth); };
  if (auto least = lhs.getDefiningOp<arith::MinSIOp>();
      least && llvm::any_of(least->getOperands(), isBelow))
    return true;
  if (auto least = rhs.getDefiningOp<arith::MinSIOp>();
      least && llvm::all_of(least->getOperands(), isAbove))
    return true;
  if (auto greatest = rhs.getDefiningOp<arith::MaxSIOp>();
      greatest && llvm::any_of(greatest->getOperands(), isAbove))
    return true;
  if (auto greatest = lhs.getDefiningOp<arith::MaxSIOp>();
      greatest && llvm::all_of(greatest->getOperands(), isBelow))
    return true;
  Sum difference;
  difference.add(rhs, APInt(wideBits, 1), isSpeculated);
  difference.add(lhs, APInt::getAllOnes(wideBits), isSpeculated);
  NoWrapFacts facts;
  return isNonNegative(std::move(difference),
                       [&](Value value) { return facts.range(value); });
}
