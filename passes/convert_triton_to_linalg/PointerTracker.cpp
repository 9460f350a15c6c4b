// SPDX-License-Identifier: Apache-2.0
//
// Tracks offsets and pointers backward through the operations that make them.
// An operation that is not known here ends the track.

#include "Dimensions.h"
#include "Trackers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

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
