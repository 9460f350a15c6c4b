// SPDX-License-Identifier: Apache-2.0
//
// Contiguity and divisors of pointers, and constancy of masks, as Triton uses
// them to choose how many elements one instruction accesses.

#include "AccessWidth.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::loop_split;

/// Bytes of the widest access of a thread.
static constexpr int64_t widest = 16;

analysis::AxisInfo AccessWidths::infoOf(Value value) {
  if (!infos) {
    // Not of the module: each of its loops would take as long as all functions.
    Operation *top = loop->getParentOfType<FunctionOpInterface>();
    infos.emplace(top ? top : loop->getParentOfType<ModuleOp>());
  }
  return infos->get(value);
}

/// Returns the size of the groups of elements along `dimension` in which the
/// mask is constant, if its part `without` is true for all elements. Each level
/// of logic may double the steps; `depth` bounds them.
int64_t AccessWidths::constancy(Value mask, Value without, unsigned dimension,
                                unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(mask.getType());
  int64_t all = type ? type.getDimSize(dimension) : 1;
  if (mask == without)
    return all;
  Operation *op = depth ? mask.getDefiningOp() : nullptr;
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::min(
        constancy(op->getOperand(0), without, dimension, depth - 1),
        constancy(op->getOperand(1), without, dimension, depth - 1));
  if (isa_and_nonnull<triton::SplatOp>(op))
    return all;
  if (auto broadcast = dyn_cast_or_null<triton::BroadcastOp>(op))
    return broadcast.getSrc().getType().getDimSize(dimension) == all
               ? constancy(broadcast.getSrc(), without, dimension, depth - 1)
               : all;
  if (auto expand = dyn_cast_or_null<triton::ExpandDimsOp>(op))
    return dimension == expand.getAxis()
               ? 1
               : constancy(expand.getSrc(), without,
                           dimension - (dimension > expand.getAxis()),
                           depth - 1);
  analysis::AxisInfo info = infoOf(mask);
  return info.axes.size() > dimension ? info.axes[dimension].constancy() : 1;
}

bool AccessWidths::isNarrowedBy(const analysis::MemoryAccess &access,
                                Value condition) {
  auto type = access.pointer
                  ? dyn_cast<RankedTensorType>(access.pointer.getType())
                  : RankedTensorType();
  if (!type || !access.mask)
    return false;
  // Triton lets a thread access neighbours along the dimension in which most
  // of them are contiguous.
  analysis::AxisInfo info = infoOf(access.pointer);
  int64_t contiguous = 1, width = 1;
  unsigned fastest = type.getRank() - 1;
  for (auto [dimension, axis] : llvm::enumerate(info.axes)) {
    if (axis.strideValue != access.laneBytes || axis.stride <= contiguous)
      continue;
    fastest = dimension;
    contiguous = axis.stride;
    width = std::min(
        {contiguous, std::max<int64_t>(axis.divisibility / access.laneBytes, 1),
         std::max<int64_t>(widest / access.laneBytes, 1)});
  }
  int64_t now = std::min(width, constancy(access.mask, Value(), fastest));
  int64_t then = std::min(width, constancy(access.mask, condition, fastest));
  return now < then;
}
