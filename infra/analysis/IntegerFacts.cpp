// SPDX-License-Identifier: Apache-2.0
//
// Walks from a value to its operands, and applies the rules of IntegerRules.cpp
// on the way back. Adds rules for block arguments, branches and promises.

#include "analysis/IntegerFacts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;

/// The state of one question. Each value is visited once, because the number of
/// paths to it may be exponential: in `b = a + a`, `c = b + b`, ..., each line
/// doubles it.
class IntegerFacts::Walk {
public:
  explicit Walk(const IntegerFacts &facts) : facts(facts) {}

  int64_t divisor(Value value);
  ConstantIntRanges range(Value value);

private:
  /// The most values that a question visits. An index in a kernel is computed
  /// by ten to fifty operations. In a longer chain, such as that of a loop
  /// unrolled a hundred times, a value beyond the limit is assumed to be any
  /// number. The limit also bounds the depth of the recursion.
  static constexpr unsigned mostVisits = 128;

  int64_t computeDivisor(Value value);
  ConstantIntRanges computeRange(Value value);
  ConstantIntRanges rangeOfInduction(scf::ForOp loop);

  const IntegerFacts &facts;
  unsigned visits = 0;
  DenseMap<Value, int64_t> divisors;
  DenseMap<Value, ConstantIntRanges> ranges;
};

/// Returns the loop whose induction variable is `value`; null if there is none.
static scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
  return loop && argument == loop.getInductionVar() ? loop : scf::ForOp();
}

/// Returns the two values that the branches of an scf.if yield for its result
/// `value`; nothing if a branch has no terminator yet.
static SmallVector<Value> yieldsOf(Value value) {
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch)
    return {};
  SmallVector<Value> yields;
  for (Region &region : branch->getRegions()) {
    auto yield = region.empty() || region.front().empty()
                     ? scf::YieldOp()
                     : dyn_cast<scf::YieldOp>(region.front().back());
    if (!yield)
      return {};
    yields.push_back(yield.getOperand(cast<OpResult>(value).getResultNumber()));
  }
  return yields;
}

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

int64_t IntegerFacts::Walk::divisor(Value value) {
  auto [it, isNew] = divisors.try_emplace(value, 1);
  if (!isNew || visits == mostVisits)
    return it->second;
  ++visits;
  int64_t result = computeDivisor(value);
  if (auto promise = facts.divisors.find(value);
      promise != facts.divisors.end())
    result = std::max(result, promise->second);
  divisors[value] = result;
  return result;
}

/// Returns the number in the attribute tt.divisibility of `value` if it is an
/// argument of a function; else 1.
static int64_t promisedDivisor(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument && argument.getOwner()->isEntryBlock()
                      ? dyn_cast_or_null<FunctionOpInterface>(
                            argument.getOwner()->getParentOp())
                      : FunctionOpInterface();
  auto promise = function ? function.getArgAttrOfType<IntegerAttr>(
                                argument.getArgNumber(), "tt.divisibility")
                          : IntegerAttr();
  return promise && promise.getInt() > 0 ? divisorOf(promise.getInt()) : 1;
}

int64_t IntegerFacts::Walk::computeDivisor(Value value) {
  if (auto loop = loopOf(value))
    return std::min(divisor(loop.getLowerBound()), divisor(loop.getStep()));
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return promisedDivisor(value);
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return divisorOf(number);
  if (SmallVector<Value> yields = yieldsOf(value); !yields.empty())
    return std::min(divisor(yields[0]), divisor(yields[1]));
  Operation *op = result.getOwner();
  if (!hasRule(op))
    return 1;
  SmallVector<int64_t> operands;
  for (Value operand : op->getOperands())
    operands.push_back(divisor(operand));
  std::optional<APInt> rhs;
  if (op->getNumOperands() == 2 &&
      matchPattern(op->getOperand(1), m_ConstantInt(&number)))
    rhs = number;
  return divisorOf(op, operands, rhs);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

ConstantIntRanges IntegerFacts::Walk::range(Value value) {
  ConstantIntRanges full = fullRange(value);
  if (full.smin().getBitWidth() == 0)
    return full;
  auto [it, isNew] = ranges.try_emplace(value, full);
  if (!isNew || visits == mostVisits)
    return it->second;
  ++visits;
  ConstantIntRanges result = computeRange(value);
  if (auto promise = facts.ranges.find(value); promise != facts.ranges.end())
    result = meet(result, promise->second);
  result = facts.refine(value, result, [&](Value of) { return range(of); });
  ranges.insert_or_assign(value, result);
  return result;
}

/// Returns the range of an induction variable. It runs from the lower bound to
/// below the upper bound, as the loop compares them (signed or unsigned). All
/// its values are multiples of its divisor: with the divisor 16 and the upper
/// bound 100, it is at most 96.
ConstantIntRanges IntegerFacts::Walk::rangeOfInduction(scf::ForOp loop) {
  Value variable = loop.getInductionVar();
  ConstantIntRanges full = fullRange(variable);
  ConstantIntRanges lower = range(loop.getLowerBound());
  ConstantIntRanges upper = range(loop.getUpperBound());
  unsigned width = full.smin().getBitWidth();
  bool isSigned = !loop.getUnsignedCmp();
  APInt first = isSigned ? lower.smin() : lower.umin();
  APInt end = isSigned ? upper.smax() : upper.umax();
  // A loop that runs no iteration has no value of it.
  if (isSigned ? first.sge(end) : first.uge(end))
    return full;
  APInt last = end - 1;
  unsigned zeros = llvm::Log2_64(divisor(variable));
  last.clearLowBits(std::min(zeros, width - 1));
  if (isSigned ? first.sgt(last) : first.ugt(last))
    return full;
  return ConstantIntRanges::range(first, last, isSigned);
}

ConstantIntRanges IntegerFacts::Walk::computeRange(Value value) {
  if (auto loop = loopOf(value))
    return rangeOfInduction(loop);
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return fullRange(value);
  if (SmallVector<Value> yields = yieldsOf(value); !yields.empty())
    return range(yields[0]).rangeUnion(range(yields[1]));
  Operation *op = result.getOwner();
  if (!hasRule(op))
    return fullRange(value);
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands())
    operands.push_back(range(operand));
  return rangeOf(result, operands, facts.neverWraps(op));
}

//===----------------------------------------------------------------------===//
// Promises and questions
//===----------------------------------------------------------------------===//

// Here, because whoever includes the header would compile the maps' functions.
IntegerFacts::IntegerFacts() = default;
IntegerFacts::~IntegerFacts() = default;

void IntegerFacts::setRoom(Value value, int64_t room) { rooms[value] = room; }

int64_t IntegerFacts::room(Value value) const { return rooms.lookup(value); }

void IntegerFacts::setDivisor(Value value, int64_t divisor) {
  // Keep the greatest power of two: 16 for 48.
  divisors[value] = divisorOf(divisor);
}

void IntegerFacts::setRange(Value value, const ConstantIntRanges &range) {
  ranges.insert_or_assign(value, range);
}

void IntegerFacts::setLimit(Value value, uint64_t limit) {
  unsigned width = fullRange(value).smin().getBitWidth();
  setRange(value, ConstantIntRanges::fromUnsigned(APInt::getZero(width),
                                                  APInt(width, limit)));
}

int64_t IntegerFacts::divisor(Value value) const {
  return Walk(*this).divisor(value);
}

ConstantIntRanges IntegerFacts::range(Value value) const {
  return Walk(*this).range(value);
}

std::optional<APInt> IntegerFacts::limit(Value value) const {
  ConstantIntRanges known = range(value);
  if (known.smin().getBitWidth() < 2 || known.smin().isNegative())
    return std::nullopt;
  return known.smax();
}
