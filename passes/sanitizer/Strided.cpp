// SPDX-License-Identifier: Apache-2.0
//
// Scalars that stand for tensors: places for them, sums and extremes, and the
// choice of the rule by which one is found.

#include "Strided.h"

#include "analysis/Dimensions.h"
#include "analysis/IntegerFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
using analysis::isZero;
using analysis::shapeOf;
namespace tt = mlir::triton;

bool Strided::isUniform() const {
  return !hasSlack() && llvm::all_of(strides, isZero);
}

Strided mlir::triton_ext::sanitizer::sumOf(const Strided &a, const Strided &b,
                                           bool isDifference, IndexMath &math) {
  auto combine = [&](OpFoldResult x, OpFoldResult y) {
    return isDifference ? math.sub(x, y) : math.add(x, y);
  };
  Strided result = a;
  result.base = combine(a.base, b.base);
  for (auto [x, y] : llvm::zip_equal(result.strides, b.strides))
    x = combine(x, y);
  result.valid = both(a.valid, b.valid, math);
  if (b.hasSlack()) {
    OpFoldResult low = a.hasSlack() ? a.slackLow : math.number(0);
    OpFoldResult high = a.hasSlack() ? a.slackHigh : math.number(0);
    result.slackLow = combine(low, isDifference ? b.slackHigh : b.slackLow);
    result.slackHigh = combine(high, isDifference ? b.slackLow : b.slackHigh);
  }
  return result;
}

Value mlir::triton_ext::sanitizer::both(Value a, Value b, IndexMath &math) {
  if (!a || !b || a == b)
    return a ? a : b;
  return arith::AndIOp::create(math.builder, math.loc, a, b);
}

OpBuilder Places::behind(Operation *op) {
  Operation *&next = following[op];
  if (!next)
    next = op->getNextNode();
  return OpBuilder(next);
}

OpBuilder Places::behind(Value value) {
  if (Operation *op = value.getDefiningOp())
    return behind(op);
  Block *block = value.getParentBlock();
  Operation *&first = firsts[block];
  if (!first)
    first = &block->front();
  return OpBuilder(first);
}

unsigned mlir::triton_ext::sanitizer::widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<tt::PointerType>(element))
    return 64;
  return element.isSignlessInteger() ? element.getIntOrFloatBitWidth() : 0;
}

Extremes StridedTracker::extremes(const Strided &strided,
                                  ArrayRef<int64_t> shape, const Box *box,
                                  IndexMath &math) {
  Extremes result{strided.base, strided.base, strided.valid};
  if (strided.hasSlack()) {
    result.low = math.add(result.low, strided.slackLow);
    result.high = math.add(result.high, strided.slackHigh);
  }
  for (auto [dim, stride] : llvm::enumerate(strided.strides)) {
    if (isZero(stride))
      continue;
    OpFoldResult first = box ? box->low[dim] : math.number(0);
    OpFoldResult last = box ? math.sub(box->high[dim], math.number(1))
                            : math.number(shape[dim] - 1);
    OpFoldResult near = math.mul(stride, first), far = math.mul(stride, last);
    if (std::optional<int64_t> constant = getConstantIntValue(stride)) {
      if (*constant < 0)
        std::swap(near, far);
      result.low = math.add(result.low, near);
      result.high = math.add(result.high, far);
      continue;
    }
    result.low = math.add(result.low, math.min(near, far));
    result.high = math.add(result.high, math.max(near, far));
  }
  return result;
}

Value mlir::triton_ext::sanitizer::isWithin(OpFoldResult value, int64_t low,
                                            int64_t high, IndexMath &math) {
  int64_t least = INT64_MIN, greatest = INT64_MAX;
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    least = greatest = *constant;
  } else {
    ConstantIntRanges range =
        analysis::IntegerFacts().range(cast<Value>(value));
    least = range.smin().getSExtValue();
    greatest = range.smax().getSExtValue();
  }
  auto compare = [&](arith::CmpIPredicate predicate, int64_t bound) -> Value {
    return arith::CmpIOp::create(math.builder, math.loc, predicate,
                                 math.toValue(value),
                                 math.toValue(math.number(bound)));
  };
  Value isAbove, isBelow;
  if (least < low)
    isAbove = compare(arith::CmpIPredicate::sge, low);
  if (greatest > high)
    isBelow = compare(arith::CmpIPredicate::sle, high);
  return both(isAbove, isBelow, math);
}

Strided StridedTracker::exact(const Strided &strided, ArrayRef<int64_t> shape,
                              unsigned width, IndexMath &math) {
  if (strided.isExact || width >= 64)
    return strided;
  Strided result = strided;
  result.isExact = true;
  Extremes all = extremes(strided, shape, nullptr, math);
  int64_t most = llvm::maxIntN(width), least = llvm::minIntN(width);
  // The least is not below a greatest that is within, and the other way round,
  // but either may be out.
  Value low = isWithin(all.low, least, most, math);
  Value high =
      all.low == all.high ? Value() : isWithin(all.high, least, most, math);
  result.valid = both(strided.valid, both(low, high, math), math);
  return result;
}

std::optional<Strided> StridedTracker::track(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Strided> result = compute(value);
  known[value] = result;
  return result;
}

std::optional<Strided> StridedTracker::compute(Value value) {
  unsigned width = widthOf(value.getType());
  if (width == 0 || width > 64)
    return std::nullopt;
  OpBuilder b = places.behind(value);
  IndexMath math = mathBehind(b, value.getLoc());
  if (!isa<RankedTensorType>(value.getType())) {
    if (!isa<tt::PointerType>(value.getType()))
      return Strided{math.fromInteger(value), {}, {}};
    Value address = tt::PtrToIntOp::create(b, math.loc, math.type, value);
    return Strided{address, {}, {}};
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgument(argument);
  if (auto found = carried.find(value); found != carried.end()) {
    // The results of a loop are its loop-carried values at its end.
    scf::ForOp loop = found->second.loop;
    std::optional<Strided> strided =
        track(loop.getRegionIterArg(found->second.index));
    if (strided)
      strided->base = loop.getResult(found->second.companion);
    return strided;
  }
  return computeOp(value.getDefiningOp(), cast<OpResult>(value), math);
}
