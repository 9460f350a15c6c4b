// SPDX-License-Identifier: Apache-2.0
//
// The place where a loop is split, as a value of its induction variable, and
// the split itself: the part of TripCounter that comes after the count.

#include "Known.h"
#include "TripCounter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using arith::CmpIPredicate;

/// Returns `lower + count * step`, and whether iterations are left behind it.
/// If none is left, the first value is `lower`, because the sum may overflow. A
/// loop from a value that has wrapped to the same value would not run either,
/// so the select is not needed for correctness; but without it, ptxas needs 4
/// to 13 registers more for 5 of 12 attention kernels, and 12 less for one.
std::pair<Value, Value> TripCounter::middle(Value count) {
  Value rest = b.createOrFold<arith::CmpIOp>(CmpIPredicate::ult, count, trips);
  Value skipped = b.createOrFold<arith::SelectOp>(rest, count, number(type, 0));
  return {after(skipped), rest};
}

/// Returns the induction variable after `count` iterations, which must not
/// overflow.
Value TripCounter::after(Value count) {
  Value value = b.createOrFold<arith::AddIOp>(
      lower, b.createOrFold<arith::MulIOp>(count, step));
  return resize(value, loop.getInductionVar().getType());
}

Value TripCounter::placeOf(Value count) {
  auto [middle, rest] = this->middle(count);
  return b.createOrFold<arith::SelectOp>(rest, middle, loop.getUpperBound());
}

/// Returns whether the step is a power of two that divides both bounds.
bool TripCounter::isAligned() const {
  APInt stride;
  return matchPattern(step, m_ConstantInt(&stride)) && stride.isPowerOf2() &&
         isMultipleOf(lower, stride) && isMultipleOf(upper, stride);
}

Value TripCounter::placeWithoutWrap(const Condition &condition, Side side) {
  Value iv = loop.getInductionVar();
  unsigned width = condition.lhs.constant.getBitWidth();
  APInt stride;
  if (!analysis.noWrap || !isAligned() || loop.getUnsignedCmp() ||
      condition.isUnsigned || !condition.increasing ||
      !iv.getType().isInteger(width) ||
      !matchPattern(step, m_ConstantInt(&stride)))
    return nullptr;

  // The condition changes where the induction variable reaches this sum.
  Sum sum;
  auto isTerm = [&](Value value) { return analysis.isInvariant(value); };
  APInt one(wideBits, 1);
  for (const auto &[value, factor] : condition.rhs.terms)
    sum.add(value, factor.sext(wideBits), isTerm);
  for (const auto &[value, factor] : condition.lhs.terms)
    sum.add(value, -factor.sext(wideBits), isTerm);
  auto itself = sum.terms.find(iv);
  if (itself == sum.terms.end() || !itself->second.isAllOnes())
    return nullptr;
  sum.terms.erase(itself);
  sum.constant += condition.rhs.constant.sext(wideBits);
  sum.constant -= condition.lhs.constant.sext(wideBits);
  if (side == Side::Lead)
    sum.constant -= condition.lhs.spread.zext(wideBits);
  else
    sum.constant += condition.rhs.spread.zext(wideBits);
  if (!condition.isStrict())
    sum.constant += one;

  auto isMultiple = [&](auto &term) {
    return term.second.countr_zero() >= stride.logBase2() ||
           isMultipleOf(term.first, stride);
  };
  bool isEven = llvm::all_of(sum.terms, isMultiple);
  APInt mask = -stride;
  if (isEven)
    sum.constant =
        (sum.constant + stride.zext(wideBits) - one) & mask.sext(wideBits);
  auto isHere = [&](auto &term) {
    return isTerm(term.first) && term.first.getType().isInteger(width) &&
           term.second.isSignedIntN(width);
  };
  if (!llvm::all_of(sum.terms, isHere) || !sum.constant.isSignedIntN(width))
    return nullptr;

  IRMapping mapping;
  Value place;
  for (bool isNegative : {false, true})
    for (const auto &[value, factor] : sum.terms) {
      if (factor.isZero() || factor.isNegative() != isNegative)
        continue;
      Value term = atFirstIteration(value, mapping);
      if (APInt size = factor.abs().trunc(width); !size.isOne())
        term = b.createOrFold<arith::MulIOp>(term, number(type, size));
      if (isNegative)
        place = b.createOrFold<arith::SubIOp>(place ? place : number(type, 0),
                                              term);
      else
        place = place ? b.createOrFold<arith::AddIOp>(place, term) : term;
    }
  APInt constant = sum.constant.trunc(width);
  if (!place)
    place = number(type, constant);
  else if (!constant.isZero())
    place = b.createOrFold<arith::AddIOp>(place, number(type, constant));
  // If the condition changes outside of the loop, the place is its nearer end.
  if (!isAtMost(place, upper))
    place = b.createOrFold<arith::MinSIOp>(place, upper);
  if (!isAtMost(lower, place))
    place = b.createOrFold<arith::MaxSIOp>(place, lower);
  if (isEven)
    return place;
  place = b.createOrFold<arith::AddIOp>(place, number(type, stride - 1));
  return b.createOrFold<arith::AndIOp>(place, number(type, mask));
}

scf::ForOp TripCounter::split(Value count, Value place, bool secondDoesAll,
                              IRMapping &mapping) {
  Value end = loop.getUpperBound();
  Value middle, firstEnd, secondEnd;
  if (place) {
    middle = place;
    firstEnd = place;
    secondEnd = end;
  } else if (secondDoesAll && !isAligned()) {
    // A compiler makes better code of a loop that ends at a multiple of the
    // step, which the upper bound need not be. Where the induction variable
    // would overflow after all iterations, the second loop does the last one.
    APInt last = greatest(bitWidth(type), loop.getUnsignedCmp());
    Value room = b.createOrFold<arith::SubIOp>(number(type, last), lower);
    Value most = b.createOrFold<arith::DivUIOp>(room, divisor);
    middle = after(b.createOrFold<arith::MinUIOp>(count, most));
    firstEnd = middle;
    secondEnd = end;
  } else {
    Value rest;
    std::tie(middle, rest) = this->middle(count);
    firstEnd = b.createOrFold<arith::SelectOp>(rest, middle, end);
    secondEnd = b.createOrFold<arith::SelectOp>(rest, end, middle);
  }

  rewriter.setInsertionPointAfter(loop);
  auto second = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
  rewriter.replaceAllUsesWith(loop.getResults(), second.getResults());
  rewriter.modifyOpInPlace(loop, [&] { loop.setUpperBound(firstEnd); });
  rewriter.modifyOpInPlace(second, [&] {
    second.setLowerBound(middle);
    second.setUpperBound(secondEnd);
    second.getInitArgsMutable().assign(loop.getResults());
  });
  return second;
}
