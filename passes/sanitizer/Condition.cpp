// SPDX-License-Identifier: Apache-2.0
//
// Splits masks into conditions, compares conditions, and makes masks of them.

#include "Condition.h"
#include "Bits.h"

#include "analysis/Dimensions.h"
#include "analysis/IntegerFacts.h"
#include "triton_ext/CmpPredicate.h"

#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

View View::of(Value value) {
  View view{value, {}};
  for (auto [d, size] : llvm::enumerate(analysis::shapeOf(value)))
    view.dims.push_back(size == 1 ? -1 : int(d));
  return view;
}

View sanitizer::stripped(View view) {
  while (Operation *op = view.base.getDefiningOp()) {
    if (!isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp,
             tt::ReshapeOp>(op))
      break;
    Value source = op->getOperand(0);
    ArrayRef<int64_t> shape = analysis::shapeOf(source);
    DimMap dims(shape.size(), -1);
    if (isa<tt::BroadcastOp>(op)) {
      for (auto [d, size] : llvm::enumerate(shape))
        dims[d] = size == 1 ? -1 : view.dims[d];
    } else if (auto trans = dyn_cast<tt::TransOp>(op)) {
      for (auto [d, from] : llvm::enumerate(trans.getOrder()))
        dims[from] = view.dims[d];
    } else if (!isa<tt::SplatOp>(op)) {
      auto from =
          analysis::matchDimensions(shape, analysis::shapeOf(op->getResult(0)));
      if (!from)
        break;
      for (auto [d, one] : llvm::enumerate(*from))
        if (one)
          dims[*one] = view.dims[d];
    }
    view = {source, dims};
  }
  return view;
}

//===----------------------------------------------------------------------===//
// From masks to conditions
//===----------------------------------------------------------------------===//

/// Returns the set of the relations that the predicate accepts: less (1), equal
/// (2), greater (4).
static unsigned outcomes(P predicate) {
  switch (predicate) {
  case P::eq:
    return 2;
  case P::ne:
    return 5;
  case P::slt:
  case P::ult:
    return 1;
  case P::sle:
  case P::ule:
    return 3;
  case P::sgt:
  case P::ugt:
    return 4;
  case P::sge:
  case P::uge:
    return 6;
  }
  llvm_unreachable("all predicates are above");
}

/// Returns the condition of one bit that is not a conjunction.
static Condition single(View bit, bool isTrue) {
  Condition result{bit, isTrue, std::nullopt, {}, {}};
  if (auto compare = bit.base.getDefiningOp<arith::CmpIOp>()) {
    P predicate = compare.getPredicate();
    result.predicate = isTrue ? predicate : arith::invertPredicate(predicate);
    result.lhs = stripped({compare.getLhs(), bit.dims});
    result.rhs = stripped({compare.getRhs(), bit.dims});
  }
  return result;
}

/// Adds the conditions of a view to `found`; returns false if they hold in no
/// lane.
static bool collect(View view, bool isTrue, Conditions &found, bool &isExact,
                    unsigned depth) {
  view = stripped(view);
  llvm::APInt constant;
  if (matchPattern(view.base, m_ConstantInt(&constant)))
    return constant.getBoolValue() == isTrue;
  Operation *op = view.base.getDefiningOp();
  auto operand = [&](unsigned i) { return View{op->getOperand(i), view.dims}; };
  if (op && depth) {
    if (auto exclusive = dyn_cast<arith::XOrIOp>(op);
        exclusive && matchPattern(exclusive.getRhs(), m_One()))
      return collect(operand(0), !isTrue, found, isExact, depth - 1);
    if (isTrue ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op))
      return collect(operand(0), isTrue, found, isExact, depth - 1) &&
             collect(operand(1), isTrue, found, isExact, depth - 1);
    if (auto select = dyn_cast<arith::SelectOp>(op);
        select && select.getCondition().getType() == select.getType()) {
      // c ? x : false is c & x, and c ? true : x is c | x.
      if (isTrue && matchPattern(select.getFalseValue(), m_Zero()))
        return collect(operand(0), true, found, isExact, depth - 1) &&
               collect(operand(1), true, found, isExact, depth - 1);
      if (!isTrue && matchPattern(select.getTrueValue(), m_One()))
        return collect(operand(0), false, found, isExact, depth - 1) &&
               collect(operand(2), false, found, isExact, depth - 1);
    }
  }
  found.push_back(single(view, isTrue));
  return true;
}

std::optional<Conditions> sanitizer::conditionsOf(Value mask, bool isTrue,
                                                  bool &isExact) {
  Conditions found;
  isExact = true;
  if (!collect(View::of(mask), isTrue, found, isExact, /*depth=*/8))
    return std::nullopt;
  return found;
}

Condition sanitizer::comparison(P predicate, Value lhs, Value rhs) {
  return {
      {}, true, predicate, stripped(View::of(lhs)), stripped(View::of(rhs))};
}

Condition sanitizer::negated(Condition condition) {
  condition.isTrue = !condition.isTrue;
  if (condition.predicate)
    condition.predicate = arith::invertPredicate(*condition.predicate);
  return condition;
}

//===----------------------------------------------------------------------===//
// Contradictions
//===----------------------------------------------------------------------===//

static bool isSignedOrEqual(P predicate) {
  return llvm::is_contained({P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge},
                            predicate);
}

static bool isUnsignedOrEqual(P predicate) {
  return llvm::is_contained({P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge},
                            predicate);
}

/// Returns whether `x p a` and `x q b` exclude each other, by the ranges of a
/// and b.
static bool excludesByRanges(P p, Value a, P q, Value b) {
  // Make p the one that bounds x from above.
  if (outcomes(p) & 4)
    return !(outcomes(q) & 4) && excludesByRanges(q, b, p, a);
  if (outcomes(q) & 1)
    return false;
  // x <= a and b <= x, or strictly.
  analysis::IntegerFacts facts;
  ConstantIntRanges upper = facts.range(a), lower = facts.range(b);
  if (!upper.umin().getBitWidth() ||
      upper.umin().getBitWidth() != lower.umin().getBitWidth())
    return false;
  bool isStrict = !(outcomes(p) & 2) || !(outcomes(q) & 2);
  if (isSignedOrEqual(p) && isSignedOrEqual(q))
    return isStrict ? upper.smax().sle(lower.smin())
                    : upper.smax().slt(lower.smin());
  if (isUnsignedOrEqual(p) && isUnsignedOrEqual(q))
    return isStrict ? upper.umax().ule(lower.umin())
                    : upper.umax().ult(lower.umin());
  return false;
}

bool sanitizer::excludes(const Condition &a, const Condition &b) {
  if (a.bit.base && a.bit == b.bit)
    return a.isTrue != b.isTrue;
  if (!a.predicate || !b.predicate)
    return false;
  auto turned = [](const Condition &c) {
    Condition result = c;
    std::swap(result.lhs, result.rhs);
    result.predicate = swapOperands(*c.predicate);
    return result;
  };
  auto compare = [&](const Condition &x, const Condition &y) {
    if (!(x.lhs == y.lhs))
      return false;
    P p = *x.predicate, q = *y.predicate;
    llvm::APInt first, second;
    bool areEqual =
        x.rhs == y.rhs ||
        (matchPattern(x.rhs.base, m_ConstantInt(&first)) &&
         matchPattern(y.rhs.base, m_ConstantInt(&second)) &&
         first.getBitWidth() == second.getBitWidth() && first == second);
    if (areEqual && ((isSignedOrEqual(p) && isSignedOrEqual(q)) ||
                     (isUnsignedOrEqual(p) && isUnsignedOrEqual(q))))
      return (outcomes(p) & outcomes(q)) == 0;
    return excludesByRanges(p, x.rhs.base, q, y.rhs.base);
  };
  return compare(a, b) || compare(turned(a), b) || compare(a, turned(b)) ||
         compare(turned(a), turned(b));
}

bool sanitizer::isContradictory(ArrayRef<Condition> conditions) {
  for (size_t i = 0; i < conditions.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (excludes(conditions[i], conditions[j]))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Other tiles
//===----------------------------------------------------------------------===//

static bool translate(View &view, ArrayRef<int> dims) {
  for (int &d : view.dims) {
    if (d < 0)
      continue;
    d = dims[d];
    if (d < 0)
      return false;
  }
  return true;
}

std::optional<Condition> sanitizer::translated(const Condition &condition,
                                               ArrayRef<int> dims) {
  Condition result = condition;
  if (!translate(result.bit, dims) || !translate(result.lhs, dims) ||
      !translate(result.rhs, dims))
    return std::nullopt;
  return result;
}

bool sanitizer::isMadeIn(const Condition &condition, Operation *op) {
  auto isInside = [&](Value value) {
    return value && op->isAncestor(value.getParentBlock()->getParentOp());
  };
  return isInside(condition.bit.base) || isInside(condition.lhs.base) ||
         isInside(condition.rhs.base);
}

//===----------------------------------------------------------------------===//
// From conditions to masks
//===----------------------------------------------------------------------===//

Value sanitizer::materializeCompact(ImplicitLocOpBuilder &b, const View &view,
                                    ArrayRef<int64_t> shape) {
  auto type = dyn_cast<RankedTensorType>(view.base.getType());
  if (!type)
    return view.base;
  // The dimensions along which the view varies, in their order in the tile.
  SmallVector<int> dims;
  SmallVector<int64_t> sizes, compact(shape.size(), 1);
  for (auto [d, size] : llvm::zip(view.dims, type.getShape()))
    if (d >= 0) {
      dims.push_back(d);
      sizes.push_back(size);
      compact[d] = size;
    }
  if (dims.empty())
    return tt::UnsplatOp::create(
        b,
        reshaped(b, view.base,
                 SmallVector<int64_t>(std::max<size_t>(1, type.getRank()), 1)));
  Value value = reshaped(b, view.base, sizes);
  SmallVector<int32_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int32_t i, int32_t j) { return dims[i] < dims[j]; });
  if (!llvm::is_sorted(order))
    value = tt::TransOp::create(b, value, order);
  return reshaped(b, value, compact);
}

Value sanitizer::materialize(ImplicitLocOpBuilder &b,
                             const Condition &condition,
                             ArrayRef<int64_t> shape) {
  Value bit = materializeCompact(b, condition.bit, shape);
  if (!condition.isTrue)
    bit = notOf(b, bit);
  return broadcastTo(b, bit, shape);
}
