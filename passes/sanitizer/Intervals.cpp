// SPDX-License-Identifier: Apache-2.0
//
// The rules for operations whose results are not strided, but have limits.

#include "Strided.h"

#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
using analysis::shapeOf;
namespace tt = mlir::triton;

/// Of operations that keep the order of numbers, or limit them: a value whose
/// base and strides are 0, and whose slack are its extremes.
std::optional<Strided> StridedTracker::computeInterval(Operation *op,
                                                       OpResult result,
                                                       IndexMath &math) {
  unsigned width = widthOf(result.getType());
  bool isSelect = isa<arith::SelectOp>(op);
  if (isa<tt::PointerType>(getElementTypeOrSelf(result.getType())) ||
      !isa<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp,
           arith::MinSIOp, arith::MaxSIOp, arith::SelectOp>(op))
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(result);
  std::optional<Strided> a = track(op->getOperand(isSelect ? 1 : 0));
  std::optional<Strided> b = a ? track(op->getOperand(isSelect ? 2 : 1)) : a;
  if (!b)
    return std::nullopt;
  Strided left = exact(*a, shape, width, math);
  Strided right = exact(*b, shape, width, math);
  Extremes x = extremes(left, shape, nullptr, math);
  Extremes y = extremes(right, shape, nullptr, math);
  Strided interval{math.number(0),
                   SmallVector<OpFoldResult>(shape.size(), math.number(0)),
                   both(x.valid, y.valid, math)};
  auto require = [&](OpFoldResult value, int64_t least) {
    interval.valid =
        both(interval.valid, isWithin(value, least, INT64_MAX, math), math);
  };
  OpFoldResult zero = math.number(0);
  if (isSelect) {
    interval.slackLow = math.min(x.low, y.low);
    interval.slackHigh = math.max(x.high, y.high);
  } else if (isa<arith::MinSIOp>(op)) {
    interval.slackLow = math.min(x.low, y.low);
    interval.slackHigh = math.min(x.high, y.high);
  } else if (isa<arith::MaxSIOp>(op)) {
    interval.slackLow = math.max(x.low, y.low);
    interval.slackHigh = math.max(x.high, y.high);
  } else {
    require(y.low, 1);
    if (isa<arith::RemUIOp, arith::DivUIOp>(op))
      require(x.low, 0);
    if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      // The remainder has the sign of the dividend, and is not further from 0.
      OpFoldResult most = math.sub(y.high, math.number(1));
      interval.slackLow = math.max(math.min(x.low, zero), math.sub(zero, most));
      interval.slackHigh = math.min(math.max(x.high, zero), most);
    } else {
      // The quotient is not further from 0 than the dividend.
      if (y.low != y.high)
        return std::nullopt;
      auto quotient = [&](OpFoldResult value) -> OpFoldResult {
        // An interval that is not valid must not lead to a division by 0,
        // either.
        Value divisor = math.toValue(math.max(y.low, math.number(1)));
        return arith::DivSIOp::create(math.builder, math.loc,
                                      math.toValue(value), divisor)
            .getResult();
      };
      interval.slackLow = quotient(x.low);
      interval.slackHigh = quotient(x.high);
    }
  }
  return interval;
}
