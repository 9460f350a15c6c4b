// SPDX-License-Identifier: Apache-2.0
//
// Tracks offsets, pointers and masks backward through the operations that make
// them. An operation that is not known here ends the track.

#include "Trackers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/CmpPredicate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

/// Numbers in, number out; none if that overflows.
using Fold = bool (*)(int64_t, int64_t, int64_t &);

template <typename OpTy>
static OpFoldResult combine(IndexMath &math, OpFoldResult a, OpFoldResult b,
                            Fold fold) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  int64_t result;
  if (x && y && fold(*x, *y, result))
    return math.number(result);
  return OpTy::create(math.builder, math.loc, math.toValue(a), math.toValue(b))
      .getResult();
}

OpFoldResult IndexMath::add(OpFoldResult a, OpFoldResult b) {
  if (isConstantIntValue(a, 0))
    return b;
  if (isConstantIntValue(b, 0))
    return a;
  return combine<arith::AddIOp>(*this, a, b,
                                [](int64_t x, int64_t y, int64_t &result) {
                                  return !llvm::AddOverflow(x, y, result);
                                });
}

OpFoldResult IndexMath::sub(OpFoldResult a, OpFoldResult b) {
  if (isConstantIntValue(b, 0))
    return a;
  if (isa<Value>(a) && a == b)
    return number(0);
  return combine<arith::SubIOp>(*this, a, b,
                                [](int64_t x, int64_t y, int64_t &result) {
                                  return !llvm::SubOverflow(x, y, result);
                                });
}

OpFoldResult IndexMath::mul(OpFoldResult a, OpFoldResult b) {
  if (isConstantIntValue(a, 0) || isConstantIntValue(b, 1))
    return a;
  if (isConstantIntValue(b, 0) || isConstantIntValue(a, 1))
    return b;
  return combine<arith::MulIOp>(*this, a, b,
                                [](int64_t x, int64_t y, int64_t &result) {
                                  return !llvm::MulOverflow(x, y, result);
                                });
}

OpFoldResult IndexMath::min(OpFoldResult a, OpFoldResult b) {
  if (a == b)
    return a;
  return combine<arith::MinSIOp>(*this, a, b,
                                 [](int64_t x, int64_t y, int64_t &result) {
                                   result = std::min(x, y);
                                   return true;
                                 });
}

OpFoldResult IndexMath::max(OpFoldResult a, OpFoldResult b) {
  if (a == b)
    return a;
  return combine<arith::MaxSIOp>(*this, a, b,
                                 [](int64_t x, int64_t y, int64_t &result) {
                                   result = std::max(x, y);
                                   return true;
                                 });
}

OpFoldResult IndexMath::orZero(Value condition, OpFoldResult whenTrue) {
  return arith::SelectOp::create(builder, loc, condition, toValue(whenTrue),
                                 toValue(number(0)))
      .getResult();
}

OpFoldResult IndexMath::fromInteger(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return number(constant.getSExtValue());
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value)
      .getResult();
}

Value IndexMath::toValue(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// For each dimension of `to` that has more than one element the dimension of
/// `from` that it is, where the shapes differ in dimensions of one element
/// only.
static std::optional<SmallVector<std::optional<unsigned>>>
matchDimensions(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<std::optional<unsigned>> result;
  unsigned next = 0;
  auto skip = [&] {
    while (next < from.size() && from[next] == 1)
      ++next;
  };
  for (int64_t size : to) {
    if (size == 1) {
      result.push_back(std::nullopt);
      continue;
    }
    skip();
    if (next == from.size() || from[next] != size)
      return std::nullopt;
    result.push_back(next++);
  }
  skip();
  if (next != from.size())
    return std::nullopt;
  return result;
}

/// The strides behind a change of shape, null where they are not even.
static std::optional<SmallVector<OpFoldResult>>
reshapeStrides(Operation *op, ArrayRef<OpFoldResult> strides, IndexMath &math) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  SmallVector<OpFoldResult> result;
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    result.assign(strides.begin(), strides.end());
    result.insert(result.begin() + expand.getAxis(), math.number(0));
    return result;
  }
  if (isa<tt::BroadcastOp>(op)) {
    for (auto [dim, stride] : llvm::enumerate(strides))
      result.push_back(from[dim] == to[dim] ? stride : math.number(0));
    return result;
  }
  if (auto transpose = dyn_cast<tt::TransOp>(op)) {
    for (int32_t dim : transpose.getOrder())
      result.push_back(strides[dim]);
    return result;
  }
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  if (!reshape || reshape.getAllowReorder())
    return std::nullopt;
  if (auto matched = matchDimensions(from, to)) {
    for (std::optional<unsigned> dim : *matched)
      result.push_back(dim ? strides[*dim] : math.number(0));
    return result;
  }
  if (from.size() != 1)
    return std::nullopt;
  // A line folded into rows.
  result.assign(to.size(), math.number(0));
  OpFoldResult stride = strides[0];
  for (int dim = int(to.size()) - 1; dim >= 0; --dim) {
    if (to[dim] != 1)
      result[dim] = stride;
    stride = math.mul(stride, math.number(to[dim]));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

static bool isZero(OpFoldResult value) { return isConstantIntValue(value, 0); }

static Offsets constantOffsets(OpFoldResult offset, size_t rank,
                               IndexMath &math) {
  return {offset, SmallVector<OpFoldResult>(rank, math.number(0))};
}

std::optional<Offsets>
mlir::triton_ext::convert_triton_to_linalg::trackOffsets(Value value,
                                                         IndexMath &math) {
  size_t rank = shapeOf(value).size();
  if (value.getType().isSignlessInteger() || value.getType().isIndex()) {
    if (value.getType().isSignlessInteger() &&
        value.getType().getIntOrFloatBitWidth() > 64)
      return std::nullopt;
    return constantOffsets(math.fromInteger(value), 0, math);
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isSignlessInteger() ||
      type.getElementTypeBitWidth() > 64)
    return std::nullopt;
  SplatElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant)
    return constantOffsets(
        math.number(constant.getSplatValue<APInt>().getSExtValue()), rank,
        math);
  Operation *op = value.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  // What narrow integers count wraps in earnest.
  bool wide = type.getElementTypeBitWidth() >= 32;
  auto both = [&](auto binary) -> std::optional<std::pair<Offsets, Offsets>> {
    if (!wide)
      return std::nullopt;
    auto lhs = trackOffsets(binary.getLhs(), math);
    auto rhs = lhs ? trackOffsets(binary.getRhs(), math) : std::nullopt;
    if (!rhs)
      return std::nullopt;
    return std::make_pair(*lhs, *rhs);
  };
  auto scale = [&](Offsets offsets, OpFoldResult factor) {
    offsets.offset = math.mul(offsets.offset, factor);
    for (OpFoldResult &stride : offsets.strides)
      stride = math.mul(stride, factor);
    return offsets;
  };
  using Result = std::optional<Offsets>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        return constantOffsets(math.fromInteger(splat.getSrc()), rank, math);
      })
      .Case([&](tt::MakeRangeOp range) -> Result {
        return Offsets{math.number(range.getStartAttr().getInt()),
                       {math.number(type.getDimSize(0) == 1 ? 0 : 1)}};
      })
      .Case([&](arith::AddIOp add) -> Result {
        auto pair = both(add);
        if (!pair)
          return std::nullopt;
        auto &[lhs, rhs] = *pair;
        lhs.offset = math.add(lhs.offset, rhs.offset);
        for (auto [a, b] : llvm::zip(lhs.strides, rhs.strides))
          a = math.add(a, b);
        return lhs;
      })
      .Case([&](arith::SubIOp sub) -> Result {
        auto pair = both(sub);
        if (!pair)
          return std::nullopt;
        auto &[lhs, rhs] = *pair;
        lhs.offset = math.sub(lhs.offset, rhs.offset);
        for (auto [a, b] : llvm::zip(lhs.strides, rhs.strides))
          a = math.sub(a, b);
        return lhs;
      })
      .Case([&](arith::MulIOp mul) -> Result {
        auto pair = both(mul);
        if (!pair)
          return std::nullopt;
        auto &[lhs, rhs] = *pair;
        if (llvm::all_of(rhs.strides, isZero))
          return scale(lhs, rhs.offset);
        if (llvm::all_of(lhs.strides, isZero))
          return scale(rhs, lhs.offset);
        return std::nullopt;
      })
      .Case([&](arith::ShLIOp shift) -> Result {
        SplatElementsAttr amount;
        if (!wide || !matchPattern(shift.getRhs(), m_Constant(&amount)) ||
            !amount)
          return std::nullopt;
        uint64_t bits = amount.getSplatValue<APInt>().getZExtValue();
        auto offsets = trackOffsets(shift.getLhs(), math);
        if (!offsets || bits >= 62)
          return std::nullopt;
        return scale(*offsets, math.number(int64_t(1) << bits));
      })
      .Case([&](arith::ExtSIOp extend) -> Result {
        // -1 for an i1 that is true.
        return trackOffsets(extend.getIn(), math);
      })
      .Case([&](arith::ExtUIOp extend) -> Result {
        auto range = extend.getIn().getDefiningOp<tt::MakeRangeOp>();
        if (!range || range.getStartAttr().getInt() < 0)
          return std::nullopt;
        return trackOffsets(range, math);
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *op) -> Result {
            auto offsets = trackOffsets(op->getOperand(0), math);
            if (!offsets)
              return std::nullopt;
            auto strides = reshapeStrides(op, offsets->strides, math);
            if (!strides)
              return std::nullopt;
            return Offsets{offsets->offset, *strides};
          })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

static unsigned bytesOf(Type pointer) {
  auto type = cast<tt::PointerType>(getElementTypeOrSelf(pointer));
  Type pointee = type.getPointeeType();
  // An i1 in memory is a byte.
  return llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8);
}

/// The scalar pointer itself, and what was added to it to get there.
static Pointers trackScalarPointer(Value pointer, size_t rank,
                                   IndexMath &math) {
  OpFoldResult offset = math.number(0);
  while (math.spend()) {
    if (auto add = pointer.getDefiningOp<tt::AddPtrOp>()) {
      if (add.getOffset().getType().getIntOrFloatBitWidth() > 64)
        break;
      offset = math.add(math.fromInteger(add.getOffset()), offset);
      pointer = add.getPtr();
      continue;
    }
    auto cast = pointer.getDefiningOp<tt::BitcastOp>();
    if (!cast || !isa<tt::PointerType>(cast.getSrc().getType()) ||
        bytesOf(cast.getSrc().getType()) != bytesOf(cast.getType()))
      break;
    pointer = cast.getSrc();
  }
  return {pointer, constantOffsets(offset, rank, math)};
}

std::optional<Pointers>
mlir::triton_ext::convert_triton_to_linalg::trackPointers(Value value,
                                                          IndexMath &math) {
  if (isa<tt::PointerType>(value.getType()))
    return trackScalarPointer(value, 0, math);
  Operation *op = value.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  using Result = std::optional<Pointers>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        return trackScalarPointer(splat.getSrc(), shapeOf(value).size(), math);
      })
      .Case([&](tt::AddPtrOp add) -> Result {
        auto pointers = trackPointers(add.getPtr(), math);
        auto offsets =
            pointers ? trackOffsets(add.getOffset(), math) : std::nullopt;
        if (!offsets)
          return std::nullopt;
        pointers->offsets.offset =
            math.add(pointers->offsets.offset, offsets->offset);
        for (auto [a, b] :
             llvm::zip(pointers->offsets.strides, offsets->strides))
          a = math.add(a, b);
        return pointers;
      })
      .Case([&](tt::BitcastOp cast) -> Result {
        if (!isa<tt::PointerType>(
                getElementTypeOrSelf(cast.getSrc().getType())) ||
            bytesOf(cast.getSrc().getType()) != bytesOf(cast.getType()))
          return std::nullopt;
        return trackPointers(cast.getSrc(), math);
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *op) -> Result {
            auto pointers = trackPointers(op->getOperand(0), math);
            if (!pointers)
              return std::nullopt;
            auto strides = reshapeStrides(op, pointers->offsets.strides, math);
            if (!strides)
              return std::nullopt;
            pointers->offsets.strides = *strides;
            return pointers;
          })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<PointerSum>
mlir::triton_ext::convert_triton_to_linalg::trackPointerSum(Value value,
                                                            IndexMath &math) {
  Operation *op = value.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  using Result = std::optional<PointerSum>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        return PointerSum{splat.getSrc(), {}};
      })
      .Case([&](tt::AddPtrOp add) -> Result {
        auto sum = trackPointerSum(add.getPtr(), math);
        if (sum)
          sum->addends.push_back(add.getOffset());
        return sum;
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *op) -> Result {
            auto sum = trackPointerSum(op->getOperand(0), math);
            if (!sum)
              return std::nullopt;
            auto type = cast<RankedTensorType>(op->getResult(0).getType());
            for (Value &addend : sum->addends) {
              Type element = getElementTypeOrSelf(addend.getType());
              OperationState state(op->getLoc(), op->getName(), addend,
                                   type.clone(element), op->getAttrs());
              addend = math.builder.create(state)->getResult(0);
            }
            return sum;
          })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

Box mlir::triton_ext::convert_triton_to_linalg::wholeOf(ArrayRef<int64_t> shape,
                                                        IndexMath &math) {
  Box box;
  for (int64_t size : shape) {
    box.low.push_back(math.number(0));
    box.high.push_back(math.number(size));
  }
  return box;
}

bool mlir::triton_ext::convert_triton_to_linalg::isWhole(
    const Box &box, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(box.low, box.high, shape), [](auto dim) {
    auto [low, high, size] = dim;
    return isConstantIntValue(low, 0) && isConstantIntValue(high, size);
  });
}

/// All of the tensor if the scalar holds, else nothing.
static Box allIf(Value condition, ArrayRef<int64_t> shape, IndexMath &math) {
  Box box = wholeOf(shape, math);
  if (!box.high.empty())
    box.high[0] = math.orZero(condition, box.high[0]);
  return box;
}

/// Where start + i is less than (or, `from`, at least) `bound`, for i from 0 to
/// below `size`: the index at which that changes, in [0, size].
static OpFoldResult changesAt(OpFoldResult start, int64_t size,
                              OpFoldResult bound, IndexMath &math) {
  OpFoldResult end = math.add(start, math.number(size));
  return math.sub(math.min(end, math.max(bound, start)), start);
}

static std::optional<Box> trackComparison(arith::CmpIOp op, IndexMath &math) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  ArrayRef<int64_t> shape = type.getShape();
  bool isSigned =
      llvm::is_contained({P::slt, P::sle, P::sgt, P::sge, P::eq}, predicate);
  // In narrow types the sum of range and start wraps, and is not tracked.
  if (!isSigned || !type.getElementType().isSignlessInteger())
    return std::nullopt;
  auto lhs = trackOffsets(op.getLhs(), math);
  auto rhs = lhs ? trackOffsets(op.getRhs(), math) : std::nullopt;
  if (!rhs)
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
  // One dimension along which it grows by one.
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
  auto changes = [&](bool behind) {
    if (!behind)
      return changesAt(start, size, bound, math);
    // The bound is one more, unless there is nothing behind it: start + i is
    // never more than the largest number.
    OpFoldResult limit = math.add(start, math.number(size));
    OpFoldResult last = math.sub(limit, math.number(1));
    OpFoldResult before = math.sub(start, math.number(1));
    OpFoldResult clamped = math.min(last, math.max(bound, before));
    return math.sub(math.add(clamped, math.number(1)), start);
  };
  switch (predicate) {
  case P::slt:
    box.high[*along] = changes(/*behind=*/false);
    break;
  case P::sle:
    box.high[*along] = changes(/*behind=*/true);
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

static Box intersect(const Box &a, const Box &b, ArrayRef<int64_t> shape,
                     IndexMath &math) {
  Box box;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    // 0 is the least that there is, and the size the most.
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

/// The box behind a change of shape of the mask.
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
      // One element or none becomes all or none.
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
  // A dimension of one element that goes may say that there is nothing.
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

std::optional<Box>
mlir::triton_ext::convert_triton_to_linalg::trackMask(Value mask,
                                                      IndexMath &math) {
  ArrayRef<int64_t> shape = shapeOf(mask);
  SplatElementsAttr constant;
  if (matchPattern(mask, m_Constant(&constant)) && constant) {
    Box box = wholeOf(shape, math);
    if (constant.getSplatValue<APInt>().isZero() && !shape.empty())
      box.high[0] = math.number(0);
    return box;
  }
  Operation *op = mask.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  using Result = std::optional<Box>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        return allIf(splat.getSrc(), shape, math);
      })
      .Case([&](arith::AndIOp both) -> Result {
        auto lhs = trackMask(both.getLhs(), math);
        auto rhs = lhs ? trackMask(both.getRhs(), math) : std::nullopt;
        if (!rhs)
          return std::nullopt;
        return intersect(*lhs, *rhs, shape, math);
      })
      .Case([&](arith::CmpIOp compare) -> Result {
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
