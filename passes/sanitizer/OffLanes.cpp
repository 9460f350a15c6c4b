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

  /// Returns whether an element of `bits` may be `isTrue`.
  Value mayHave(Value bits, bool isTrue);

private:
  Value ofComparison(arith::CmpIOp compare, bool isTrue);

  ImplicitLocOpBuilder &b;
  StridedTracker tracker;
};
} // namespace

/// Returns null if only lanes can tell.
Value OffLanes::ofComparison(arith::CmpIOp compare, bool isTrue) {
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
  if (Value valid = both(both(left.valid, right.valid, math), ends.valid, math))
    holds = arith::OrIOp::create(b, holds, notOf(b, valid));
  return holds;
}

Value OffLanes::mayHave(Value bits, bool isTrue) {
  if (!isa<RankedTensorType>(bits.getType()))
    return isTrue ? bits : notOf(b, bits);
  Operation *op = bits.getDefiningOp();
  DenseIntElementsAttr constant;
  if (isa_and_nonnull<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp,
                      tt::ReshapeOp, tt::TransOp>(op))
    return mayHave(op->getOperand(0), isTrue);
  if (auto negation = dyn_cast_or_null<arith::XOrIOp>(op))
    if (matchPattern(negation.getRhs(), m_Constant(&constant)) &&
        constant.isSplat())
      return mayHave(negation.getLhs(),
                     isTrue == constant.getSplatValue<APInt>().isZero());
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    Value one = mayHave(op->getOperand(0), isTrue),
          other = mayHave(op->getOperand(1), isTrue);
    if (isa<arith::AndIOp>(op) == isTrue)
      return arith::AndIOp::create(b, one, other);
    return arith::OrIOp::create(b, one, other);
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    if (Value known = ofComparison(compare, isTrue))
      return known;
  return anyOf(b, isTrue ? bits : notOf(b, bits));
}

Value mlir::triton_ext::sanitizer::mayHaveTrue(ImplicitLocOpBuilder &b,
                                               Value bits, tt::FuncOp kernel) {
  return OffLanes(b, kernel).mayHave(bits, true);
}
