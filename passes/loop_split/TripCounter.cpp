// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic in front of a loop that is to be split. Numbers of iterations are
// unsigned and of the loop's type; a sum or product that may wrap is used only
// where it is known, or checked, not to have wrapped.

#include "TripCounter.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using arith::CmpIPredicate;

static Type integerOf(Type type) {
  return IntegerType::get(type.getContext(), bitWidth(type));
}

static APInt least(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getMinValue(width)
                    : APInt::getSignedMinValue(width);
}

/// Removes the flags that make the operation poison for some operands, because
/// it will be executed with operands that it did not have before.
static void dropFlags(Operation *op) {
  for (StringRef promise : {"isExact", "nonNeg"})
    if (op->getInherentAttr(promise).value_or(Attribute()))
      op->removeAttr(promise);
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(flags.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    op->getContext(), arith::IntegerOverflowFlags::none));
}

TripCounter::TripCounter(RewriterBase &rewriter, scf::ForOp loop,
                         ConditionAnalysis &analysis)
    : ForwardingListener(rewriter.getListener()), rewriter(rewriter),
      loop(loop), analysis(analysis), b(loop.getLoc(), loop),
      type(integerOf(loop.getInductionVar().getType())) {
  b.setListener(this);
  lower = resize(loop.getLowerBound(), type);
  upper = resize(loop.getUpperBound(), type);
  step = resize(loop.getStep(), type);
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

/// With `no-wrap`, an operation that the original kernel does not execute may
/// still wrap, so this marks it.
void TripCounter::speculate(Operation *op) {
  if (analysis.noWrap)
    op->setAttr(speculatedAttr, b.getUnitAttr());
}

TripCounter::~TripCounter() {
  for (Operation *op : llvm::reverse(emitted))
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
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

/// Returns the unsigned number in another type, modulo 2^width if that is
/// narrower.
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

/// Compares with `predicate`, a signed one, or its unsigned counterpart.
Value TripCounter::compare(CmpIPredicate predicate, Value lhs, Value rhs,
                           bool isUnsigned) {
  if (isUnsigned)
    predicate = toUnsigned(predicate);
  return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
}

/// Moves an invariant value, and what it is computed from, out of the loop.
void TripCounter::hoist(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    hoist(operand);
  rewriter.modifyOpInPlace(op, [&] {
    dropFlags(op);
    speculate(op);
  });
  rewriter.moveOpBefore(op, loop);
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

/// Returns the least element in the first iteration, provided that no element
/// wraps.
Value TripCounter::atFirstIteration(const AffineForm &form) {
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

/// Returns in how many first iterations `value + gap < limit`, where the value
/// starts at `value` and grows by `stride` in each iteration; or, if not
/// `increasing`, in how many `value - gap > limit`, where it shrinks. If not
/// `strict`, equality counts, too. In these iterations the value does not wrap:
/// it lies between its start and `limit`, and neither of them wraps.
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

  // The count is valid where no element of the right-hand side wraps, nor, in
  // the first iteration, one of the left-hand side.
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

  // For the tail, no element may wrap until the loop ends: one that does would
  // have its first value again.
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

std::optional<uint64_t> TripCounter::mostKnown(Value count, Side side) {
  Value known =
      side == Side::Lead ? count : b.createOrFold<arith::SubIOp>(trips, count);
  APInt most;
  if (matchPattern(known, m_ConstantInt(&most)) ||
      matchPattern(trips, m_ConstantInt(&most)))
    return most.getLimitedValue();
  return std::nullopt;
}
