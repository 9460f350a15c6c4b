// SPDX-License-Identifier: Apache-2.0
//
// Compares the corners of a tile with the tensors that may hold it.

#include "Extents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
using P = arith::CmpIPredicate;

/// Returns the innermost loop around `b`; null if there is none.
static scf::ForOp loopAround(ImplicitLocOpBuilder &b) {
  Operation *parent = b.getInsertionBlock()->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(parent);
  return loop ? loop : parent->getParentOfType<scf::ForOp>();
}

/// Appends the terms of a sum: to `varying` those that the loop computes.
static void addTerms(Value sum, scf::ForOp loop, SmallVector<Value> &varying,
                     SmallVector<Value> &fixed, SmallVector<Value> &constants) {
  auto add = sum.getDefiningOp<arith::AddIOp>();
  if (getConstantIntValue(sum)) {
    constants.push_back(sum);
  } else if (loop.isDefinedOutsideOfLoop(sum)) {
    fixed.push_back(sum);
  } else if (add) {
    addTerms(add.getLhs(), loop, varying, fixed, constants);
    addTerms(add.getRhs(), loop, varying, fixed, constants);
  } else {
    varying.push_back(sum);
  }
}

static Value sumOf(ArrayRef<Value> terms, ImplicitLocOpBuilder &b) {
  Value sum = terms.front();
  for (Value term : terms.drop_front())
    sum = arith::AddIOp::create(b, sum, term);
  return sum;
}

/// Returns the outermost loop around `b` that does not change `values`.
static scf::ForOp loopWithout(ArrayRef<Value> values, ImplicitLocOpBuilder &b) {
  scf::ForOp found;
  for (Operation *parent = b.getInsertionBlock()->getParentOp(); parent;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      continue;
    if (!llvm::all_of(values, [&](Value value) {
          return loop.isDefinedOutsideOfLoop(value);
        }))
      break;
    found = loop;
  }
  return found;
}

/// Returns whether `corner` is at least, or at most, `limit`. The limit may be
/// the greatest number, from which nothing can be subtracted, so it is taken to
/// be an address below 2^62.
static Value compare(Value corner, P predicate, Value limit,
                     ImplicitLocOpBuilder &b) {
  SmallVector<Value> varying, fixed, constants;
  if (scf::ForOp loop = loopAround(b))
    addTerms(corner, loop, varying, fixed, constants);
  SmallVector<Value> outside(fixed);
  outside.push_back(limit);
  scf::ForOp loop = loopWithout(outside, b);
  fixed.append(constants);
  if (!loop || varying.empty() || fixed.empty())
    return arith::CmpIOp::create(b, predicate, corner, limit);
  ImplicitLocOpBuilder before(b.getLoc(), loop);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(before, before.getI64IntegerAttr(value));
  };
  for (Value &term : fixed)
    if (std::optional<int64_t> value = getConstantIntValue(term))
      term = number(*value);
  constexpr int64_t most = int64_t(1) << 62;
  if (predicate == P::sge)
    limit = arith::MaxSIOp::create(before, limit, number(-most));
  else
    limit = arith::MinSIOp::create(before, limit, number(most));
  limit = arith::SubIOp::create(before, limit, sumOf(fixed, before));
  return arith::CmpIOp::create(b, predicate, sumOf(varying, b), limit);
}

Value mlir::triton_ext::sanitizer::areCornersInside(ArrayRef<ByteRange> ranges,
                                                    Value low, Value high,
                                                    int64_t bytes,
                                                    ImplicitLocOpBuilder &b) {
  Value result;
  for (const ByteRange &range : ranges) {
    // Behind the range, where every loop can use it.
    OpBuilder at(range.end.getContext());
    at.setInsertionPointAfterValue(range.end);
    ImplicitLocOpBuilder behind(b.getLoc(), at);
    Value last = lastStart(range.end, bytes, behind);
    Value isIn = arith::AndIOp::create(b, compare(low, P::sge, range.start, b),
                                       compare(high, P::sle, last, b));
    result = result ? Value(arith::OrIOp::create(b, result, isIn)) : isIn;
  }
  return result;
}
