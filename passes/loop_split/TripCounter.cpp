// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic in front of a loop that is to be split. Numbers of iterations are
// unsigned and of the loop's type; a sum or product that may wrap is used only
// where it is known, or checked, not to have wrapped.

#include "TripCounter.h"
#include "Known.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using arith::CmpIPredicate;

static Type integerOf(Type type) {
  return IntegerType::get(type.getContext(), bitWidth(type));
}

static APInt greatest(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getMaxValue(width)
                    : APInt::getSignedMaxValue(width);
}

static APInt least(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getMinValue(width)
                    : APInt::getSignedMinValue(width);
}

/// Where the operation is executed now, its operands may be what makes it
/// poison.
static void dropFlags(Operation *op) {
  for (StringRef promise : {"isExact", "nonNeg"})
    if (op->getInherentAttr(promise).value_or(Attribute()))
      op->removeAttr(promise);
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(flags.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    op->getContext(), arith::IntegerOverflowFlags::none));
}

TripCounter::TripCounter(scf::ForOp loop, ConditionAnalysis &analysis)
    : loop(loop), analysis(analysis), b(loop.getLoc(), loop),
      type(integerOf(loop.getInductionVar().getType())) {
  b.setListener(this);
  lower = resize(loop.getLowerBound(), type);
  upper = resize(loop.getUpperBound(), type);
  step = resize(loop.getStep(), type);
  // A loop that does not run may have any step.
  divisor = step;
  if (!matchPattern(step, m_Constant()))
    divisor = b.createOrFold<arith::MaxUIOp>(step, number(type, 1));
  Value runs = compare(CmpIPredicate::slt, lower, upper, loop.getUnsignedCmp());
  Value distance = b.createOrFold<arith::SubIOp>(upper, lower);
  distance = b.createOrFold<arith::SubIOp>(distance, number(type, 1));
  Value quotient = b.createOrFold<arith::DivUIOp>(distance, divisor);
  trips = b.createOrFold<arith::SelectOp>(
      runs, b.createOrFold<arith::AddIOp>(quotient, number(type, 1)),
      number(type, 0));
}

/// Facts of it are not to be used. Only asked with `no-wrap`.
void TripCounter::speculate(Operation *op) {
  if (analysis.noWrap)
    op->setAttr(speculatedAttr, b.getUnitAttr());
}

TripCounter::~TripCounter() {
  for (Operation *op : llvm::reverse(emitted))
    if (isOpTriviallyDead(op))
      op->erase();
}

Value TripCounter::number(Type type, const APInt &value) {
  TypedAttr attr = b.getIntegerAttr(type, value);
  Value &constant = numbers[attr];
  if (!constant)
    constant = arith::ConstantOp::create(b, attr);
  return constant;
}

Value TripCounter::number(Type type, uint64_t value) {
  return number(type, APInt(bitWidth(type), value));
}

/// The unsigned number in another type; modulo its size, if that is smaller.
Value TripCounter::resize(Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex() || type.isIndex()) {
    Type integer = value.getType().isIndex() ? integerOf(value.getType())
                                             : integerOf(type);
    if (!value.getType().isIndex())
      value = resize(value, integer);
    value = b.createOrFold<arith::IndexCastOp>(type.isIndex() ? type : integer,
                                               value);
    return resize(value, type);
  }
  if (bitWidth(value.getType()) < bitWidth(type))
    return b.createOrFold<arith::ExtUIOp>(type, value);
  return b.createOrFold<arith::TruncIOp>(type, value);
}

/// `predicate` is signed, and made unsigned if necessary.
Value TripCounter::compare(CmpIPredicate predicate, Value lhs, Value rhs,
                           bool isUnsigned) {
  if (isUnsigned)
    predicate = toUnsigned(predicate);
  return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
}

/// Moves an invariant, and what it is computed from, out of the loop.
void TripCounter::hoist(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    hoist(operand);
  dropFlags(op);
  op->moveBefore(loop);
  speculate(op);
}

Value TripCounter::atFirstIteration(Value value, IRMapping &mapping) {
  if (value == loop.getInductionVar())
    return loop.getLowerBound();
  if (analysis.isInvariant(value)) {
    hoist(value);
    return value;
  }
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, atFirstIteration(operand, mapping));
  Operation *copy = op->clone(mapping);
  dropFlags(copy);
  SmallVector<Value> folded;
  if (succeeded(b.tryFold(copy, folded)) && !folded.empty()) {
    copy->destroy();
  } else {
    b.insert(copy);
    folded = copy->getResults();
  }
  mapping.map(value, folded.front());
  return folded.front();
}

/// The least element, where no element wraps.
Value TripCounter::atFirstIteration(const Form &form) {
  Type type = b.getIntegerType(form.constant.getBitWidth());
  IRMapping mapping;
  Value sum;
  for (const auto &[value, coefficient] : form.terms) {
    Value term = atFirstIteration(value, mapping);
    if (bitWidth(term.getType()) < bitWidth(type))
      term = b.createOrFold<arith::ExtSIOp>(type, term);
    term = resize(term, type);
    if (!coefficient.isOne())
      term = b.createOrFold<arith::MulIOp>(term, number(type, coefficient));
    sum = sum ? b.createOrFold<arith::AddIOp>(sum, term) : term;
  }
  if (!sum)
    return number(type, form.constant);
  return b.createOrFold<arith::AddIOp>(sum, number(type, form.constant));
}

/// In how many first iterations `value + gap < limit`, if that starts at
/// `value` and grows by `stride`, or `value - gap > limit`, if it shrinks. If
/// not `strict`, equality counts, too. As none of them wraps, neither does the
/// value in these iterations.
Value TripCounter::leading(Value value, Value limit, const APInt &gap,
                           Value stride, bool increasing, bool strict,
                           bool isUnsigned) {
  Type valueType = value.getType();
  CmpIPredicate predicate =
      increasing ? (strict ? CmpIPredicate::slt : CmpIPredicate::sle)
                 : (strict ? CmpIPredicate::sgt : CmpIPredicate::sge);
  Value holds = compare(predicate, value, limit, isUnsigned);
  Value room = increasing ? b.createOrFold<arith::SubIOp>(limit, value)
                          : b.createOrFold<arith::SubIOp>(value, limit);
  if (strict)
    room = b.createOrFold<arith::SubIOp>(room, number(valueType, 1));
  if (!gap.isZero()) {
    Value width = number(valueType, gap);
    Value fits = b.createOrFold<arith::CmpIOp>(CmpIPredicate::uge, room, width);
    holds = b.createOrFold<arith::AndIOp>(holds, fits);
    room = b.createOrFold<arith::SubIOp>(room, width);
  }
  Value further = b.createOrFold<arith::DivUIOp>(room, stride);
  Type wider = bitWidth(valueType) > bitWidth(type) ? valueType : type;
  Value notAll = b.createOrFold<arith::CmpIOp>(
      CmpIPredicate::ult, resize(further, wider), resize(trips, wider));
  Value count =
      b.createOrFold<arith::AddIOp>(resize(further, type), number(type, 1));
  count = b.createOrFold<arith::SelectOp>(notAll, count, trips);
  return b.createOrFold<arith::SelectOp>(holds, count, number(type, 0));
}

Value TripCounter::countUpTo(const Condition &condition, Side side) {
  bool increasing = condition.increasing, isUnsigned = condition.isUnsigned;
  const APInt &lhsSpread = condition.lhs.spread;
  const APInt &rhsSpread = condition.rhs.spread;
  unsigned width = lhsSpread.getBitWidth();
  APInt last = greatest(width, isUnsigned);
  Value value = atFirstIteration(condition.lhs);
  Value limit = atFirstIteration(condition.rhs);
  Type valueType = value.getType();
  Value stride = b.createOrFold<arith::MulIOp>(
      resize(step, valueType), number(valueType, condition.slope));
  Value moves = b.createOrFold<arith::CmpIOp>(CmpIPredicate::ne, stride,
                                              number(valueType, 0));
  stride = b.createOrFold<arith::MaxUIOp>(stride, number(valueType, 1));

  // The elements of the right-hand side do not wrap, nor, at first, those of
  // the left.
  Value valid = b.createOrFold<arith::ConstantOp>(b.getBoolAttr(true));
  auto require = [&](Value fact) {
    valid = b.createOrFold<arith::AndIOp>(valid, fact);
  };
  if (!rhsSpread.isZero())
    require(compare(CmpIPredicate::sle, limit,
                    number(valueType, last - rhsSpread), isUnsigned));
  if (!lhsSpread.isZero() && (side == Side::Tail || !increasing))
    require(compare(CmpIPredicate::sle, value,
                    number(valueType, last - lhsSpread), isUnsigned));
  Value limitLast =
      b.createOrFold<arith::AddIOp>(limit, number(valueType, rhsSpread));
  bool strict = condition.isStrict();

  if (side == Side::Lead) {
    Value count = increasing ? leading(value, limit, lhsSpread, stride, true,
                                       strict, isUnsigned)
                             : leading(value, limitLast, APInt::getZero(width),
                                       stride, false, strict, isUnsigned);
    return b.createOrFold<arith::SelectOp>(valid, count, number(type, 0));
  }

  // No element wraps until the loop ends.
  require(moves);
  Value room = increasing
                   ? b.createOrFold<arith::SubIOp>(
                         number(valueType, last - lhsSpread), value)
                   : b.createOrFold<arith::SubIOp>(
                         value, number(valueType, least(width, isUnsigned)));
  Value further = b.createOrFold<arith::DivUIOp>(room, stride);
  Type wider = width > bitWidth(type) ? valueType : type;
  Value others = b.createOrFold<arith::SubIOp>(trips, number(type, 1));
  require(b.createOrFold<arith::CmpIOp>(
      CmpIPredicate::ule, resize(others, wider), resize(further, wider)));
  Value count = increasing ? leading(value, limitLast, APInt::getZero(width),
                                     stride, true, strict, isUnsigned)
                           : leading(b.createOrFold<arith::AddIOp>(
                                         value, number(valueType, lhsSpread)),
                                     limit, APInt::getZero(width), stride,
                                     false, strict, isUnsigned);
  return b.createOrFold<arith::SelectOp>(valid, count, trips);
}

bool TripCounter::isZero(Value count) const {
  return matchPattern(count, m_Zero());
}

bool TripCounter::isAll(Value count) const {
  APInt some, all;
  return count == trips ||
         (matchPattern(count, m_ConstantInt(&some)) &&
          matchPattern(trips, m_ConstantInt(&all)) && some.uge(all));
}

Value TripCounter::orNone(Value count, Side side, uint32_t least) {
  Value none = side == Side::Lead ? number(type, 0) : trips;
  APInt all;
  if (matchPattern(trips, m_ConstantInt(&all)) && all.ult(least))
    return none;
  Value known =
      side == Side::Lead ? count : b.createOrFold<arith::SubIOp>(trips, count);
  uint64_t most = APInt::getMaxValue(bitWidth(type)).getLimitedValue();
  Value enough = b.createOrFold<arith::CmpIOp>(
      CmpIPredicate::uge, known, number(type, std::min<uint64_t>(least, most)));
  return b.createOrFold<arith::SelectOp>(enough, count, none);
}

/// `lower + count * step`, but `lower` where that is all iterations: it may
/// overflow. The second value is whether it is not all. A loop from a value
/// that has wrapped to the same value would not run either; but without the
/// select, ptxas needs 4 to 13 registers more for 5 of 12 attention kernels,
/// and 12 less for one.
std::pair<Value, Value> TripCounter::middle(Value count) {
  Value rest = b.createOrFold<arith::CmpIOp>(CmpIPredicate::ult, count, trips);
  Value skipped = b.createOrFold<arith::SelectOp>(rest, count, number(type, 0));
  return {after(skipped), rest};
}

/// The induction variable after `count` iterations, which must not overflow.
Value TripCounter::after(Value count) {
  Value value = b.createOrFold<arith::AddIOp>(
      lower, b.createOrFold<arith::MulIOp>(count, step));
  return resize(value, loop.getInductionVar().getType());
}

Value TripCounter::placeOf(Value count) {
  auto [middle, rest] = this->middle(count);
  return b.createOrFold<arith::SelectOp>(rest, middle, loop.getUpperBound());
}

/// Whether the step is a power of two and both bounds are multiples of it.
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

  // It changes where the induction variable reaches this sum.
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
  // Whatever it is, from here on it is in the range of the loop.
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
    // The compiler makes better code of a loop that ends at a multiple of the
    // step. If all iterations are so many that the induction variable would
    // overflow after them, the second loop does the last.
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

  OpBuilder behind(loop->getContext());
  behind.setInsertionPointAfter(loop);
  auto second = cast<scf::ForOp>(behind.clone(*loop, mapping));
  loop.replaceAllUsesWith(second.getResults());
  loop.setUpperBound(firstEnd);
  second.setLowerBound(middle);
  second.setUpperBound(secondEnd);
  second.getInitArgsMutable().assign(loop.getResults());
  return second;
}
