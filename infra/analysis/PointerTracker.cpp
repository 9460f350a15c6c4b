// SPDX-License-Identifier: Apache-2.0
//
// Tracks pointers backward through the operations that make them. An operation
// without a rule here ends the track.

#include "analysis/PointerTracker.h"
#include "analysis/AxisTransfer.h"
#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

/// Returns whether the cast keeps the size of the elements pointed to, so that
/// offsets in elements stay the same.
static bool keepsElements(tt::BitcastOp cast) {
  int64_t bytes = bytesOfPointee(cast.getType());
  return bytes != 0 && bytes == bytesOfPointee(cast.getSrc().getType());
}

/// Returns the pointer from which `pointer` is computed by adding offsets, and
/// the sum of these offsets.
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
    if (!cast || !keepsElements(cast))
      break;
    pointer = cast.getSrc();
  }
  return {pointer, {offset, SmallVector<OpFoldResult>(rank, math.number(0))}};
}

static std::optional<Pointers> choosePointers(Value condition,
                                              const Pointers &yes,
                                              const Pointers &no,
                                              IndexMath &math) {
  auto offsets = chooseOffsets(condition, yes.offsets, no.offsets, math);
  if (!offsets)
    return std::nullopt;
  Value base = yes.base;
  if (base != no.base)
    base = arith::SelectOp::create(math.builder, math.loc, condition, base,
                                   no.base);
  return Pointers{base, *offsets};
}

std::optional<Pointers>
mlir::triton_ext::analysis::trackPointers(Value value, IndexMath &math) {
  if (isa<tt::PointerType>(value.getType()))
    return trackScalarPointer(value, 0, math);
  Operation *op = value.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  using Result = std::optional<Pointers>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        Value pointer = math.reach(splat.getSrc());
        if (!pointer)
          return std::nullopt;
        return trackScalarPointer(pointer, shapeOf(value).size(), math);
      })
      .Case([&](tt::AddPtrOp add) -> Result {
        auto pointers = trackPointers(add.getPtr(), math);
        auto offsets =
            pointers ? trackOffsets(add.getOffset(), math) : std::nullopt;
        if (!offsets)
          return std::nullopt;
        return Pointers{pointers->base,
                        addOffsets(pointers->offsets, *offsets, math)};
      })
      .Case([&](tt::BitcastOp cast) -> Result {
        if (!keepsElements(cast))
          return std::nullopt;
        return trackPointers(cast.getSrc(), math);
      })
      .Case<arith::SelectOp, scf::IfOp>([&](auto) -> Result {
        auto choice = getChoice(value, math);
        auto yes = choice ? trackPointers(choice->yes, math) : std::nullopt;
        auto no = yes ? trackPointers(choice->no, math) : std::nullopt;
        if (!no || yes->base.getType() != no->base.getType())
          return std::nullopt;
        return choosePointers(choice->condition, *yes, *no, math);
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *op) -> Result {
            auto pointers = trackPointers(op->getOperand(0), math);
            if (!pointers)
              return std::nullopt;
            auto offsets = reshapeOffsets(op, pointers->offsets, math);
            if (!offsets)
              return std::nullopt;
            return Pointers{pointers->base, *offsets};
          })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<PointerSum>
mlir::triton_ext::analysis::trackPointerSum(Value value, IndexMath &math) {
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
