// SPDX-License-Identifier: Apache-2.0
//
// Finds whether lanes of the form base + pattern wrap around: at compile time
// if that is known, else as a condition that the kernel tests.

#include "LaneArithmetic.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;
using mlir::triton_ext::analysis::IntegerFacts;

bool LaneArithmetic::neverWraps(const Lanes &lanes) const {
  if (hasDisjointBits(lanes))
    return true;
  std::optional<APInt> limit = facts.limit(lanes.base);
  auto [low, high] =
      std::minmax_element(lanes.pattern.begin(), lanes.pattern.end());
  if (!limit || *low < 0)
    return false;
  bool overflow = false;
  APInt most(limit->getBitWidth(), *high);
  (void)limit->sadd_ov(most, overflow);
  return !overflow && !most.isNegative();
}

/// Returns the minimum and the maximum of the pattern and zero, which stands
/// for the base itself.
static std::pair<int64_t, int64_t> patternRange(const Lanes &lanes) {
  auto [low, high] =
      std::minmax_element(lanes.pattern.begin(), lanes.pattern.end());
  return {std::min<int64_t>(*low, 0), std::max<int64_t>(*high, 0)};
}

/// Tests `base + low <= base + high`, where both sums are computed modulo
/// 2^width and `low` and `high` are the range of the pattern and zero. No lane
/// wraps around if and only if this holds. The reason: the two sums are less
/// than 2^width apart, so if a lane wraps, their order is reversed. For
/// example, with 32 bits, base = 2^32 - 1 and the pattern 0, 1, the test is
/// `2^32 - 1 <= 0`, which is false.
Value LaneArithmetic::staysUnsigned(const Lanes &lanes) {
  auto [low, high] = patternRange(lanes);
  auto shifted = [&](int64_t by) {
    return b.createOrFold<arith::AddIOp>(lanes.base,
                                         b.constant(lanes.base.getType(), by));
  };
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, shifted(low),
                               shifted(high));
}

namespace {
/// An integer as a sum of terms, modulo 2^width.
struct Terms {
  /// Terms of unknown size, and the constants that they are multiplied by.
  SmallVector<std::pair<Value, int64_t>> large;
  /// The range of the sum of all other terms.
  int64_t low = 0, high = 0;

  void add(const IntegerFacts &facts, Value value, int64_t factor,
           int depth = 0);
  bool addRange(int64_t from, int64_t to);
};
} // namespace

/// Terms of fewer bits than this are small. Their range makes the condition
/// stricter: if the base is closer than that to an end of the type, the
/// condition is false and the access becomes a gather.
static constexpr unsigned smallBits = 24;

/// Adds a term in [from, to] to the sum, unless the range of all small terms
/// becomes too large.
bool Terms::addRange(int64_t from, int64_t to) {
  constexpr int64_t most = int64_t(1) << smallBits;
  if (low + from < -most || high + to > most)
    return false;
  low += from;
  high += to;
  return true;
}

/// The depth to which expressions are followed. Addresses in kernels are less
/// deep.
static constexpr int mostDepth = 8;

/// Adds `factor` times `value` to the sum.
void Terms::add(const IntegerFacts &facts, Value value, int64_t factor,
                int depth) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    if (number.isSignedIntN(smallBits) &&
        addRange(factor * number.getSExtValue(),
                 factor * number.getSExtValue()))
      return;
  } else if (std::optional<APInt> limit = facts.limit(value);
             limit && limit->isIntN(smallBits)) {
    int64_t end = factor * limit->getSExtValue();
    if (addRange(std::min<int64_t>(end, 0), std::max<int64_t>(end, 0)))
      return;
  } else if (Operation *op = value.getDefiningOp(); op && depth < mostDepth) {
    auto addOperand = [&](int i, int64_t times) {
      add(facts, op->getOperand(i), factor * times, depth + 1);
    };
    if (isa<arith::TruncIOp>(op))
      return addOperand(0, 1);
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      addOperand(0, 1);
      return addOperand(1, isa<arith::AddIOp>(op) ? 1 : -1);
    }
    if (isa<arith::MulIOp>(op) &&
        matchPattern(op->getOperand(1), m_ConstantInt(&number)) &&
        number.isSignedIntN(smallBits) &&
        llvm::isInt<smallBits>(factor * number.getSExtValue()))
      return addOperand(0, number.getSExtValue());
  }
  large.push_back({value, factor});
}

/// The condition does not contain the small terms of the base, such as the
/// induction variable of the loop over a tile; it uses their ranges instead. So
/// LLVM can move it out of that loop. For example, the greatest lane of
/// `start + arange(0, 1024)` is `start + 1023`, so the condition is
/// `start <= 2^31 - 1024`.
Value LaneArithmetic::staysSigned(const Lanes &lanes) {
  auto type = cast<IntegerType>(lanes.base.getType());
  Terms terms;
  terms.add(facts, lanes.base, 1);
  auto [low, high] = patternRange(lanes);
  if (low == 0 && high <= facts.room(lanes.base))
    return {};
  low = std::min<int64_t>(low + terms.low, 0);
  high = std::max<int64_t>(high + terms.high, 0);
  Value rest;
  for (auto [value, factor] : terms.large) {
    if (value.getType() != type)
      value = b.createOrFold<arith::TruncIOp>(type, value);
    value = b.createOrFold<arith::MulIOp>(value, b.constant(type, factor));
    rest = rest ? b.createOrFold<arith::AddIOp>(rest, value) : value;
  }
  if (!rest)
    return {};
  unsigned width = type.getWidth();
  assert(width >= 32 && "offsets have at least 32 bits");
  APInt first = APInt::getSignedMinValue(width) - APInt(width, low, true);
  APInt last = APInt::getSignedMaxValue(width) - APInt(width, high, true);
  std::optional<APInt> limit = facts.limit(rest);
  if (limit && limit->sle(last))
    return {};
  auto compare = [&](arith::CmpIPredicate predicate, const APInt &with) {
    return b.createOrFold<arith::CmpIOp>(predicate, rest,
                                         b.constant(type, with.getSExtValue()));
  };
  Value stays = compare(arith::CmpIPredicate::sle, last);
  if (low < 0)
    stays = b.createOrFold<arith::AndIOp>(
        stays, compare(arith::CmpIPredicate::sge, first));
  return matchPattern(stays, m_One()) ? Value() : stays;
}
