// SPDX-License-Identifier: Apache-2.0
//
// Tracks masks backward through the operations that make them. An operation
// without a rule here ends the track.

#include "analysis/MaskTracker.h"
#include "analysis/Dimensions.h"
#include "analysis/OffsetTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/CmpPredicate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

Box mlir::triton_ext::analysis::wholeOf(ArrayRef<int64_t> shape,
                                        IndexMath &math) {
  Box box;
  for (int64_t size : shape) {
    box.low.push_back(math.number(0));
    box.high.push_back(math.number(size));
  }
  return box;
}

bool mlir::triton_ext::analysis::isWhole(const Box &box,
                                         ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(box.low, box.high, shape), [](auto dim) {
    auto [low, high, size] = dim;
    return isConstantIntValue(low, 0) && isConstantIntValue(high, size);
  });
}

bool mlir::triton_ext::analysis::isNothing(const Box &box,
                                           ArrayRef<int64_t> shape) {
  return llvm::any_of(llvm::zip(box.low, box.high, shape), [](auto dim) {
    auto [low, high, size] = dim;
    int64_t first = getConstantIntValue(low).value_or(0);
    int64_t end = getConstantIntValue(high).value_or(size);
    return first >= end;
  });
}

/// Returns the box of the whole tensor if the scalar is true, else an empty
/// box.
static Box allIf(Value condition, ArrayRef<int64_t> shape, IndexMath &math) {
  Box box = wholeOf(shape, math);
  if (!box.high.empty())
    box.high[0] = math.choose(condition, box.high[0], math.number(0));
  return box;
}

/// Returns the index at which a comparison with `bound` changes: the least i in
/// [0, size) with start + i >= bound, or `size` if no i has this property. If
/// not `clamps`, a number below 0 stands for 0.
static OpFoldResult changesAt(OpFoldResult start, int64_t size,
                              OpFoldResult bound, bool clamps,
                              IndexMath &math) {
  OpFoldResult end = math.add(start, math.number(size));
  if (clamps)
    bound = math.max(bound, start);
  return math.sub(math.min(end, bound), start);
}

static std::optional<Box> trackComparison(arith::CmpIOp op, IndexMath &math) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  ArrayRef<int64_t> shape = type.getShape();
  bool isSigned =
      llvm::is_contained({P::slt, P::sle, P::sgt, P::sge, P::eq}, predicate);
  // trackOffsets() does not follow sums of narrow types, because they may wrap.
  if (!isSigned || !type.getElementType().isIntOrIndex())
    return std::nullopt;
  auto lhs = trackOffsets(op.getLhs(), math);
  auto rhs = lhs ? trackOffsets(op.getRhs(), math) : std::nullopt;
  if (!rhs || lhs->wrapsAround() || rhs->wrapsAround())
    return std::nullopt;
  if (llvm::all_of(lhs->strides, isZero)) {
    std::swap(lhs, rhs);
    predicate = triton_ext::swapOperands(predicate);
  }
  if (!llvm::all_of(rhs->strides, isZero))
    return std::nullopt;
  OpFoldResult start = lhs->offset, bound = rhs->offset;
  if (llvm::all_of(lhs->strides, isZero)) {
    Value holds =
        arith::CmpIOp::create(math.builder, math.loc, predicate,
                              math.toValue(start), math.toValue(bound));
    return allIf(holds, shape, math);
  }
  // The only dimension of stride 1.
  std::optional<unsigned> along;
  for (auto [dim, stride] : llvm::enumerate(lhs->strides)) {
    if (isZero(stride))
      continue;
    if (along || !isConstantIntValue(stride, 1))
      return std::nullopt;
    along = dim;
  }
  int64_t size = shape[*along];
  Box box = wholeOf(shape, math);
  auto changes = [&](bool behind, bool clamps = true) {
    if (!behind)
      return changesAt(start, size, bound, clamps, math);
    // `<= bound` changes at bound + 1, which wraps if the bound is the largest
    // number. So the bound is clamped to the last element before 1 is added.
    OpFoldResult limit = math.add(start, math.number(size));
    OpFoldResult last = math.sub(limit, math.number(1));
    OpFoldResult before = math.sub(start, math.number(1));
    OpFoldResult clamped =
        math.min(last, clamps ? math.max(bound, before) : bound);
    return math.sub(math.add(clamped, math.number(1)), start);
  };
  switch (predicate) {
  case P::slt:
    box.high[*along] = changes(/*behind=*/false, math.clampsEnds);
    break;
  case P::sle:
    box.high[*along] = changes(/*behind=*/true, math.clampsEnds);
    break;
  case P::sge:
    box.low[*along] = changes(/*behind=*/false);
    break;
  case P::sgt:
    box.low[*along] = changes(/*behind=*/true);
    break;
  default: // eq
    box.low[*along] = changes(/*behind=*/false);
    box.high[*along] = changes(/*behind=*/true);
    break;
  }
  return box;
}

/// Returns the mask that `value` extends to wider integers; null if it is not
/// an extension of a mask.
static Value getWidened(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(op))
    return {};
  Value mask = op->getOperand(0);
  return getElementTypeOrSelf(mask.getType()).isInteger(1) ? mask : Value();
}

static bool isZeros(Value value) { return matchPattern(value, m_Zero()); }

Box mlir::triton_ext::analysis::intersect(const Box &a, const Box &b,
                                          ArrayRef<int64_t> shape,
                                          IndexMath &math) {
  Box box;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    // Bounds lie in [0, size]: with 0 or the size there is nothing to compute.
    OpFoldResult low = isZero(a.low[dim])   ? b.low[dim]
                       : isZero(b.low[dim]) ? a.low[dim]
                                            : math.max(a.low[dim], b.low[dim]);
    OpFoldResult high = isConstantIntValue(a.high[dim], size) ? b.high[dim]
                        : isConstantIntValue(b.high[dim], size)
                            ? a.high[dim]
                            : math.min(a.high[dim], b.high[dim]);
    box.low.push_back(low);
    box.high.push_back(isZero(low) || isConstantIntValue(high, size)
                           ? high
                           : math.max(low, high));
  }
  return box;
}

/// Returns the box after a change of shape of the mask.
static std::optional<Box> reshapeBox(Operation *op, const Box &box,
                                     IndexMath &math) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  Box result;
  auto append = [&](OpFoldResult low, OpFoldResult high) {
    result.low.push_back(low);
    result.high.push_back(high);
  };
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    result = box;
    result.low.insert(result.low.begin() + expand.getAxis(), math.number(0));
    result.high.insert(result.high.begin() + expand.getAxis(), math.number(1));
    return result;
  }
  if (isa<tt::BroadcastOp>(op)) {
    for (size_t dim = 0; dim < to.size(); ++dim) {
      if (from[dim] == to[dim]) {
        append(box.low[dim], box.high[dim]);
        continue;
      }
      // A broadcast repeats the one element: a full dimension stays full, an
      // empty one stays empty.
      OpFoldResult some = math.sub(box.high[dim], box.low[dim]);
      append(math.number(0), math.mul(some, math.number(to[dim])));
    }
    return result;
  }
  if (auto transpose = dyn_cast<tt::TransOp>(op)) {
    for (int32_t dim : transpose.getOrder())
      append(box.low[dim], box.high[dim]);
    return result;
  }
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  if (!reshape || reshape.getAllowReorder())
    return std::nullopt;
  auto matched = matchDimensions(from, to);
  // A dimension of one element can be removed only if the box is known to
  // contain that element. Otherwise, the box may be empty, and the remaining
  // dimensions do not say so.
  bool saysNothing = llvm::all_of(llvm::enumerate(from), [&](auto dim) {
    return dim.value() != 1 || (isConstantIntValue(box.low[dim.index()], 0) &&
                                isConstantIntValue(box.high[dim.index()], 1));
  });
  if (!matched || !saysNothing)
    return std::nullopt;
  for (std::optional<unsigned> dim : *matched) {
    if (dim)
      append(box.low[*dim], box.high[*dim]);
    else
      append(math.number(0), math.number(1));
  }
  return result;
}

std::optional<Box> mlir::triton_ext::analysis::trackMask(Value mask,
                                                         IndexMath &math) {
  ArrayRef<int64_t> shape = shapeOf(mask);
  // A box without dimensions cannot be empty.
  if (shape.empty())
    return std::nullopt;
  SplatElementsAttr constant;
  if (matchPattern(mask, m_Constant(&constant)) && constant) {
    Box box = wholeOf(shape, math);
    if (constant.getSplatValue<APInt>().isZero())
      box.high[0] = math.number(0);
    return box;
  }
  Operation *op = mask.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  using Result = std::optional<Box>;
  auto both = [&](Value a, Value b) -> Result {
    auto lhs = trackMask(a, math);
    auto rhs = lhs ? trackMask(b, math) : std::nullopt;
    if (!rhs)
      return std::nullopt;
    return intersect(*lhs, *rhs, shape, math);
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        Value condition = math.reach(splat.getSrc());
        if (!condition)
          return std::nullopt;
        return allIf(condition, shape, math);
      })
      .Case([&](arith::AndIOp op) { return both(op.getLhs(), op.getRhs()); })
      .Case([&](arith::SelectOp select) -> Result {
        if (!isZeros(select.getFalseValue()) ||
            shapeOf(select.getCondition()).empty())
          return std::nullopt;
        return both(select.getCondition(), select.getTrueValue());
      })
      .Case([&](arith::TruncIOp narrow) -> Result {
        Value widened = getWidened(narrow.getIn());
        return widened ? trackMask(widened, math) : std::nullopt;
      })
      .Case([&](arith::CmpIOp compare) -> Result {
        Value widened = getWidened(compare.getLhs());
        if (widened && isZeros(compare.getRhs()) &&
            compare.getPredicate() == arith::CmpIPredicate::ne)
          return trackMask(widened, math);
        return trackComparison(compare, math);
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *op) -> Result {
            auto box = trackMask(op->getOperand(0), math);
            if (!box)
              return std::nullopt;
            return reshapeBox(op, *box, math);
          })
      .Default([](Operation *) { return std::nullopt; });
}
