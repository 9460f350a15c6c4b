// SPDX-License-Identifier: Apache-2.0

#include "Known.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;

bool mlir::triton_ext::loop_split::isMultipleOf(Value value,
                                                const APInt &factor,
                                                unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.countr_zero() >= factor.logBase2() || constant.isZero();
  if (depth == 0)
    return false;
  auto isMultiple = [&](Value operand) {
    return isMultipleOf(operand, factor, depth - 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast_or_null<scf::ForOp>(parent))
      return value == loop.getInductionVar() &&
             isMultiple(loop.getLowerBound()) && isMultiple(loop.getStep());
    auto function = dyn_cast_or_null<FunctionOpInterface>(parent);
    auto known = function ? function.getArgAttrOfType<IntegerAttr>(
                                argument.getArgNumber(), "tt.divisibility")
                          : IntegerAttr();
    return known && known.getValue().countr_zero() >= factor.logBase2();
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp, arith::AndIOp>(op))
    return llvm::any_of(op->getOperands(), isMultiple);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::MinUIOp, arith::MaxUIOp>(op))
    return llvm::all_of(op->getOperands(), isMultiple);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isMultiple(select.getTrueValue()) &&
           isMultiple(select.getFalseValue());
  return false;
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

static bool isNonNegative(Value value, unsigned depth);

/// There are more programs than the number of any of them.
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

static bool isNonNegative(Sum sum, unsigned depth) {
  cancelPrograms(sum);
  return sum.constant.isNonNegative() &&
         llvm::all_of(sum.terms, [&](auto &term) {
           auto &[value, factor] = term;
           return factor.isZero() ||
                  (factor.isStrictlyPositive() && isNonNegative(value, depth));
         });
}

static bool isNonNegative(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (depth-- == 0)
    return false;
  auto known = [&](Value operand) { return isNonNegative(operand, depth); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && value == loop.getInductionVar() && !loop.getUnsignedCmp() &&
           known(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (isa<triton::GetProgramIdOp, triton::GetNumProgramsOp>(op))
    return true;
  if (isa<arith::MaxSIOp, arith::AndIOp>(op))
    return llvm::any_of(op->getOperands(), known);
  if (isa<arith::MinSIOp, arith::DivSIOp, arith::RemSIOp>(op))
    return llvm::all_of(op->getOperands(), known);
  if (isa<arith::ExtSIOp>(op))
    return known(op->getOperand(0));
  if (isSpeculated(value))
    return false;
  if (isa<arith::MulIOp>(op) && llvm::all_of(op->getOperands(), known))
    return true;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return false;
  Sum sum;
  sum.add(value, APInt(wideBits, 1), isSpeculated);
  return !sum.terms.contains(value) && isNonNegative(sum, depth);
}

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
  return isNonNegative(std::move(difference), depth);
}
