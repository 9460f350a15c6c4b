// SPDX-License-Identifier: Apache-2.0
//
// Whether a tile of bits has one that is true, from the extremes of the numbers
// that the bits compare: the corners of a mask.

#include "OffLanes.h"
#include "Bits.h"
#include "Strided.h"

#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton_ext/CmpPredicate.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

namespace {
/// Walks through the operations that make bits.
class OffLanes {
public:
  OffLanes(ImplicitLocOpBuilder &b, tt::FuncOp kernel)
      : b(b), tracker(kernel, /*movesLoops=*/false) {}

  /// Restricts the elements that count to those for which `mask` is true.
  void addMask(Value mask);
  /// Returns whether an element of `bits` may be `isTrue`. The masks count if
  /// `isMasked`: the elements have not been moved then.
  Value mayHave(Value bits, bool isTrue, bool isMasked);

private:
  Value ofComparison(arith::CmpIOp compare, bool isTrue, bool isMasked);
  Value meets(P predicate, Value lhs, Value rhs);

  SmallVector<arith::CmpIOp> masks; ///< all are true
  ImplicitLocOpBuilder &b;
  StridedTracker tracker;
};
} // namespace

void OffLanes::addMask(Value mask) {
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    addMask(both.getLhs());
    addMask(both.getRhs());
  } else if (auto compare = mask.getDefiningOp<arith::CmpIOp>()) {
    masks.push_back(compare);
  }
}

/// Returns whether a number can meet both a comparison and all masks that
/// compare the same number; null if no mask does. Example: no number is at
/// least n and less than m unless n < m.
Value OffLanes::meets(P predicate, Value lhs, Value rhs) {
  auto isLess = [](P p) { return p == P::slt || p == P::sle; };
  auto isGreater = [](P p) { return p == P::sgt || p == P::sge; };
  auto limit = rhs.getDefiningOp<tt::SplatOp>();
  Value result;
  for (arith::CmpIOp mask : masks) {
    auto other = mask.getRhs().getDefiningOp<tt::SplatOp>();
    P own = mask.getPredicate();
    if (mask.getLhs() != lhs || !limit || !other ||
        !((isLess(own) && isGreater(predicate)) ||
          (isGreater(own) && isLess(predicate))))
      continue;
    Value least = isLess(own) ? limit.getSrc() : other.getSrc(),
          most = isLess(own) ? other.getSrc() : limit.getSrc();
    bool isClosed = (own == P::sle || own == P::sge) &&
                    (predicate == P::sle || predicate == P::sge);
    Value meets =
        arith::CmpIOp::create(b, isClosed ? P::sle : P::slt, least, most);
    result = result ? Value(arith::AndIOp::create(b, result, meets)) : meets;
  }
  return result;
}

/// Returns null if only lanes can tell.
Value OffLanes::ofComparison(arith::CmpIOp compare, bool isTrue,
                             bool isMasked) {
  P predicate = compare.getPredicate();
  if (!isTrue)
    predicate = arith::invertPredicate(predicate);
  Type element = getElementTypeOrSelf(compare.getLhs().getType());
  if (!element.isSignlessInteger() || element.isInteger(1) ||
      !llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, predicate))
    return {};
  auto lhs = tracker.track(compare.getLhs());
  auto rhs = lhs ? tracker.track(compare.getRhs()) : std::nullopt;
  if (!rhs)
    return {};
  IndexMath math{b, b.getLoc(), /*budget=*/1000, b.getI64Type()};
  ArrayRef<int64_t> shape = analysis::shapeOf(compare.getResult());
  unsigned width = element.getIntOrFloatBitWidth();
  Strided left = StridedTracker::exact(*lhs, shape, width, math);
  Strided right = StridedTracker::exact(*rhs, shape, width, math);
  Extremes ends = StridedTracker::extremes(
      sumOf(left, right, /*isDifference=*/true, math), shape, nullptr, math);
  bool isLess = predicate == P::slt || predicate == P::sle;
  Value holds = arith::CmpIOp::create(
      b, predicate, math.toValue(isLess ? ends.low : ends.high),
      math.toValue(math.number(0)));
  if (isMasked)
    if (Value canMeet = meets(predicate, compare.getLhs(), compare.getRhs()))
      holds = arith::AndIOp::create(b, holds, canMeet);
  if (Value valid = both(both(left.valid, right.valid, math), ends.valid, math))
    holds = arith::OrIOp::create(b, holds, notOf(b, valid));
  return holds;
}

Value OffLanes::mayHave(Value bits, bool isTrue, bool isMasked) {
  if (!isa<RankedTensorType>(bits.getType()))
    return isTrue ? bits : notOf(b, bits);
  Operation *op = bits.getDefiningOp();
  DenseIntElementsAttr constant;
  if (isa_and_nonnull<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp,
                      tt::ReshapeOp, tt::TransOp>(op))
    return mayHave(op->getOperand(0), isTrue, /*isMasked=*/false);
  if (auto negation = dyn_cast_or_null<arith::XOrIOp>(op))
    if (matchPattern(negation.getRhs(), m_Constant(&constant)) &&
        constant.isSplat())
      return mayHave(negation.getLhs(),
                     isTrue == constant.getSplatValue<APInt>().isZero(),
                     isMasked);
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    Value one = mayHave(op->getOperand(0), isTrue, isMasked),
          other = mayHave(op->getOperand(1), isTrue, isMasked);
    if (isa<arith::AndIOp>(op) == isTrue)
      return arith::AndIOp::create(b, one, other);
    return arith::OrIOp::create(b, one, other);
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    if (Value known = ofComparison(compare, isTrue, isMasked))
      return known;
  return anyOf(b, isTrue ? bits : notOf(b, bits));
}

Value mlir::triton_ext::sanitizer::mayHaveTrue(ImplicitLocOpBuilder &b,
                                               Value bits, Value mask,
                                               tt::FuncOp kernel) {
  OffLanes lanes(b, kernel);
  bool isMasked = mask && mask.getType() == bits.getType();
  if (isMasked)
    lanes.addMask(mask);
  return lanes.mayHave(bits, true, isMasked);
}
