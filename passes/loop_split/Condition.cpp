// SPDX-License-Identifier: Apache-2.0

#include "Condition.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using arith::CmpIPredicate;

CmpIPredicate
mlir::triton_ext::loop_split::toUnsigned(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::slt:
    return CmpIPredicate::ult;
  case CmpIPredicate::sle:
    return CmpIPredicate::ule;
  case CmpIPredicate::sgt:
    return CmpIPredicate::ugt;
  case CmpIPredicate::sge:
    return CmpIPredicate::uge;
  default:
    return predicate;
  }
}

bool Condition::holdsBelow() const {
  switch (predicate) {
  case CmpIPredicate::slt:
  case CmpIPredicate::sle:
  case CmpIPredicate::ult:
  case CmpIPredicate::ule:
    return true;
  default:
    return false;
  }
}

bool Condition::changesAtEqual() const {
  switch (predicate) {
  case CmpIPredicate::sle:
  case CmpIPredicate::ule:
  case CmpIPredicate::sgt:
  case CmpIPredicate::ugt:
    return false;
  default:
    return true;
  }
}

std::optional<Condition> ConditionAnalysis::get(arith::CmpIOp op,
                                                StringRef &reason) {
  auto variesInLoop = [&](Value value) { return !isInvariant(value); };
  if (llvm::none_of(op->getOperands(), variesInLoop))
    return std::nullopt; // another pass may hoist it
  // nsw and nuw are facts if a branch of each iteration depends on the
  // comparison: what wraps in spite of them is poison, on which a branch must
  // not depend. Elsewhere poison may be unused. The first iteration, where the
  // recurrence begins, must come to the branch, too, so that it has to be in
  // the body of the loop itself.
  bool trustsFlags =
      op->getBlock() == loop.getBody() &&
      llvm::any_of(op->getUsers(), [&](Operation *user) {
        return isa<scf::IfOp>(user) && user->getBlock() == loop.getBody();
      });
  std::optional<AffineForm> lhs = forms.get(op.getLhs());
  std::optional<AffineForm> rhs = forms.get(op.getRhs());
  if (!lhs || !rhs) {
    reason = "an operand is not a sum of scalars, ranges and constants, or one "
             "that may wrap before it is extended";
    return std::nullopt;
  }
  auto isVariant = [&](const AffineForm &form) {
    return llvm::any_of(form.terms,
                        [&](auto &term) { return variesInLoop(term.first); });
  };
  if (isVariant(*lhs) && isVariant(*rhs)) {
    reason = "both operands change in the loop";
    return std::nullopt;
  }
  Condition result;
  result.op = op;
  result.predicate = op.getPredicate();
  result.swapped = isVariant(*rhs);
  if (result.swapped) {
    std::swap(lhs, rhs);
    result.predicate = triton_ext::swapOperands(result.predicate);
  }
  result.lhs = std::move(*lhs);
  result.rhs = std::move(*rhs);

  unsigned width = result.lhs.constant.getBitWidth();
  APInt slope = APInt::getZero(wideBits);
  Recurrence last;
  for (const auto &[value, coefficient] : result.lhs.terms) {
    last = recurrences.get(value, trustsFlags);
    if (!last.affine) {
      reason = "it is not an affine function of the induction variable, or one "
               "that may wrap before it is extended";
      return std::nullopt;
    }
    // In i1, the constant 1 read as signed is -1, so a coefficient of 1 must
    // be widened unsigned.
    slope += last.slope * wide(coefficient, coefficient.isOne());
  }
  result.increasing = slope.isStrictlyPositive();
  result.slope = slope.abs().trunc(width);
  if (result.slope.isZero()) {
    reason = "it does not change with the induction variable";
    return std::nullopt;
  }
  if (result.isEquality() &&
      !(result.lhs.spread.isZero() && result.rhs.spread.isZero())) {
    reason = "equality of tensors";
    return std::nullopt;
  }
  result.isUnsigned = result.isEquality()
                          ? !last.views[false].exact && last.views[true].exact
                          : result.predicate == CmpIPredicate::ult ||
                                result.predicate == CmpIPredicate::ule ||
                                result.predicate == CmpIPredicate::ugt ||
                                result.predicate == CmpIPredicate::uge;
  result.exact = result.lhs.terms.size() == 1 &&
                 result.lhs.terms.front().second.isOne() &&
                 bitWidth(result.lhs.terms.front().first.getType()) == width &&
                 result.lhs.constant.isZero() && !result.hasTail() &&
                 last.views[result.isUnsigned].exact &&
                 slope.abs().getActiveBits() <= width;
  return result;
}
