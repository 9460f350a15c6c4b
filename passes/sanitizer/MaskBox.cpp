// SPDX-License-Identifier: Apache-2.0
//
// Tracks masks through the operations that make them. A mask without a rule
// here may be true everywhere.

#include "MaskBox.h"

#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton_ext/CmpPredicate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
using analysis::isZero;
using analysis::shapeOf;
namespace tt = mlir::triton;

static MaskBox wholeOf(ArrayRef<int64_t> shape, IndexMath &math) {
  MaskBox result;
  for (int64_t size : shape) {
    result.box.low.push_back(math.number(0));
    result.box.high.push_back(math.number(size));
  }
  return result;
}

/// Returns the box of a mask of which nothing is known.
static MaskBox unknownOf(ArrayRef<int64_t> shape, IndexMath &math) {
  MaskBox result = wholeOf(shape, math);
  result.isExact = false;
  return result;
}

/// Narrows the box to elements of which `below` is negative.
static void narrow(MaskBox &mask, const Strided &below, IndexMath &math) {
  OpFoldResult base = below.base;
  if (below.hasSlack()) { // the least that may be negative
    base = math.add(base, below.slackLow);
    mask.isExact = false;
  }
  std::optional<unsigned> along;
  for (auto [dim, stride] : llvm::enumerate(below.strides)) {
    if (isZero(stride))
      continue;
    if (along) { // a half-space that is not parallel to a side of the box
      mask.isExact = false;
      return;
    }
    along = dim;
  }
  if (!along) {
    Value holds =
        arith::CmpIOp::create(math.builder, math.loc, arith::CmpIPredicate::slt,
                              math.toValue(base), math.toValue(math.number(0)));
    mask.isAny = both(mask.isAny, holds, math);
    return;
  }
  std::optional<int64_t> stride = getConstantIntValue(below.strides[*along]);
  if (!stride || !llvm::isPowerOf2_64(std::abs(*stride))) {
    mask.isExact = false;
    return;
  }
  OpFoldResult &low = mask.box.low[*along], &high = mask.box.high[*along];
  auto shifted = [&](OpFoldResult value) -> OpFoldResult {
    unsigned bits = llvm::Log2_64(std::abs(*stride));
    if (bits == 0)
      return value;
    return arith::ShRSIOp::create(math.builder, math.loc, math.toValue(value),
                                  math.toValue(math.number(bits)))
        .getResult();
  };
  if (*stride > 0) { // i < ceil(-base / stride)
    OpFoldResult end = math.sub(math.number(*stride - 1), base);
    high = math.min(high, shifted(end));
  } else { // i > base / -stride
    OpFoldResult before = shifted(base);
    low = math.max(low, math.add(before, math.number(1)));
  }
}

/// Returns `a` - `b` - `less`.
static Strided difference(const Strided &a, const Strided &b, int64_t less,
                          IndexMath &math) {
  Strided result = sumOf(a, b, /*isDifference=*/true, math);
  result.base = math.sub(result.base, math.number(less));
  return result;
}

static MaskBox ofComparison(arith::CmpIOp op, arith::CmpIPredicate predicate,
                            ArrayRef<int64_t> shape, StridedTracker &tracker,
                            IndexMath &math) {
  using P = arith::CmpIPredicate;
  MaskBox result = wholeOf(shape, math);
  Type element = getElementTypeOrSelf(op.getLhs().getType());
  MaskBox unknown = unknownOf(shape, math);
  if (!element.isSignlessInteger() || element.isInteger(1) ||
      predicate == P::ne)
    return unknown;
  auto lhs = tracker.track(op.getLhs());
  auto rhs = lhs ? tracker.track(op.getRhs()) : std::nullopt;
  if (!rhs)
    return unknown;
  unsigned width = element.getIntOrFloatBitWidth();
  *lhs = StridedTracker::exact(*lhs, shape, width, math);
  *rhs = StridedTracker::exact(*rhs, shape, width, math);
  result.valid = both(lhs->valid, rhs->valid, math);
  if (llvm::is_contained({P::sgt, P::sge, P::ugt, P::uge}, predicate)) {
    std::swap(lhs, rhs);
    predicate = triton_ext::swapOperands(predicate);
  }
  bool isStrict = predicate == P::slt || predicate == P::ult;
  narrow(result, difference(*lhs, *rhs, isStrict ? 0 : 1, math), math);
  if (predicate == P::eq)
    narrow(result, difference(*rhs, *lhs, 1, math), math);
  if (predicate == P::ult || predicate == P::ule) {
    // Of a bound that is not negative, this is 0 <= lhs and lhs < rhs.
    Strided zero{math.number(0),
                 SmallVector<OpFoldResult>(shape.size(), math.number(0)),
                 {}};
    narrow(result, difference(zero, *lhs, 1, math), math);
    Extremes bound = StridedTracker::extremes(*rhs, shape, nullptr, math);
    Value isBound = arith::CmpIOp::create(math.builder, math.loc, P::sge,
                                          math.toValue(bound.low),
                                          math.toValue(math.number(0)));
    result.valid = both(result.valid, isBound, math);
  }
  return result;
}

static MaskBox intersect(MaskBox a, const MaskBox &b, IndexMath &math) {
  for (auto [x, y] : llvm::zip_equal(a.box.low, b.box.low))
    x = isZero(x) ? y : isZero(y) ? x : math.max(x, y);
  for (auto [x, y] : llvm::zip_equal(a.box.high, b.box.high))
    x = math.min(x, y);
  a.isAny = both(a.isAny, b.isAny, math);
  a.valid = both(a.valid, b.valid, math);
  a.isExact &= b.isExact;
  return a;
}

/// Returns the box of `!mask`, of a comparison.
static MaskBox ofNot(Value mask, ArrayRef<int64_t> shape,
                     StridedTracker &tracker, IndexMath &math) {
  if (auto compare = mask.getDefiningOp<arith::CmpIOp>())
    return ofComparison(compare, arith::invertPredicate(compare.getPredicate()),
                        shape, tracker, math);
  return unknownOf(shape, math);
}

static MaskBox boxOfReshape(Operation *op, StridedTracker &tracker,
                            IndexMath &math) {
  Value in = op->getOperand(0);
  ArrayRef<int64_t> from = shapeOf(in), to = shapeOf(op->getResult(0));
  MaskBox inner = maskBox(in, from, tracker), result = wholeOf(to, math);
  result.isAny = inner.isAny;
  result.valid = inner.valid;
  result.isExact = inner.isExact;
  auto take = [&](unsigned dim, unsigned source) {
    result.box.low[dim] = inner.box.low[source];
    result.box.high[dim] = inner.box.high[source];
  };
  auto drop = [&](unsigned source) {
    // One element becomes all, none stays none.
    if (isConstantIntValue(inner.box.low[source], 0) &&
        isConstantIntValue(inner.box.high[source], 1))
      return;
    Value isSome =
        arith::CmpIOp::create(math.builder, math.loc, arith::CmpIPredicate::slt,
                              math.toValue(inner.box.low[source]),
                              math.toValue(inner.box.high[source]));
    result.isAny = both(result.isAny, isSome, math);
  };
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    for (unsigned dim = 0; dim < from.size(); ++dim)
      take(dim + (dim >= expand.getAxis()), dim);
  } else if (isa<tt::BroadcastOp>(op)) {
    for (unsigned dim = 0; dim < from.size(); ++dim)
      from[dim] == to[dim] ? take(dim, dim) : drop(dim);
  } else if (auto transpose = dyn_cast<tt::TransOp>(op)) {
    for (auto [dim, source] : llvm::enumerate(transpose.getOrder()))
      take(dim, source);
  } else {
    auto matched = analysis::matchDimensions(from, to);
    auto reshape = cast<tt::ReshapeOp>(op);
    if (!matched || reshape.getAllowReorder())
      return unknownOf(to, math);
    for (auto [dim, source] : llvm::enumerate(*matched))
      if (source)
        take(dim, *source);
    for (unsigned dim = 0; dim < from.size(); ++dim)
      if (from[dim] == 1)
        drop(dim);
  }
  return result;
}

MaskBox mlir::triton_ext::sanitizer::maskBox(Value mask,
                                             ArrayRef<int64_t> shape,
                                             StridedTracker &tracker) {
  // Without a mask there are constants only, which are made where they are
  // used.
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (!op) {
    OpBuilder b(tracker.kernel().getContext());
    if (mask)
      b = tracker.places.behind(mask);
    IndexMath math = tracker.mathBehind(b, tracker.kernel().getLoc());
    MaskBox result = wholeOf(shape, math);
    if (mask && shape.empty())
      result.isAny = mask;
    else
      result.isExact = !mask;
    return result;
  }
  OpBuilder b = tracker.places.behind(mask);
  IndexMath math = tracker.mathBehind(b, mask.getLoc());
  MaskBox whole = wholeOf(shape, math), unknown = unknownOf(shape, math);
  if (shape.empty()) {
    whole.isAny = mask;
    return whole;
  }
  DenseIntElementsAttr constant;
  if (matchPattern(mask, m_Constant(&constant)) && constant.isSplat()) {
    if (constant.getSplatValue<APInt>().isZero())
      whole.box.high.front() = math.number(0);
    return whole;
  }
  return llvm::TypeSwitch<Operation *, MaskBox>(op)
      .Case([&](tt::SplatOp splat) {
        whole.isAny = splat.getSrc();
        return whole;
      })
      .Case([&](arith::CmpIOp compare) {
        return ofComparison(compare, compare.getPredicate(), shape, tracker,
                            math);
      })
      .Case<arith::AndIOp, arith::MulIOp>([&](auto conjunction) {
        return intersect(maskBox(conjunction.getLhs(), shape, tracker),
                         maskBox(conjunction.getRhs(), shape, tracker), math);
      })
      .Case([&](arith::SelectOp select) {
        // Where the result is true, one of both values is; if it is never the
        // second one, the condition and the first one are.
        DenseIntElementsAttr no;
        if (!matchPattern(select.getFalseValue(), m_Constant(&no)) ||
            !no.isSplat() || !no.getSplatValue<APInt>().isZero())
          return unknown;
        MaskBox yes = maskBox(select.getTrueValue(), shape, tracker);
        Value condition = select.getCondition();
        if (condition.getType().isInteger(1)) {
          yes.isAny = both(yes.isAny, condition, math);
          return yes;
        }
        return intersect(yes, maskBox(condition, shape, tracker), math);
      })
      .Case([&](arith::XOrIOp negation) {
        DenseIntElementsAttr ones;
        if (!matchPattern(negation.getRhs(), m_Constant(&ones)) ||
            !ones.isSplat() || ones.getSplatValue<APInt>().isZero())
          return unknown;
        return ofNot(negation.getLhs(), shape, tracker, math);
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *change) {
            return boxOfReshape(change, tracker, math);
          })
      .Default([&](Operation *) { return unknown; });
}

Value mlir::triton_ext::sanitizer::hasElements(const MaskBox &mask,
                                               IndexMath &math) {
  Value result = mask.isAny;
  for (auto [low, high] : llvm::zip_equal(mask.box.low, mask.box.high)) {
    std::optional<int64_t> first = getConstantIntValue(low),
                           end = getConstantIntValue(high);
    if (first && end && *first < *end)
      continue;
    Value isSome =
        arith::CmpIOp::create(math.builder, math.loc, arith::CmpIPredicate::slt,
                              math.toValue(low), math.toValue(high));
    result = both(result, isSome, math);
  }
  return result;
}
