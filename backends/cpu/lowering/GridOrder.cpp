// SPDX-License-Identifier: Apache-2.0
//
// Programs run along x first, in the order of their numbers, or along y. Many
// kernels take their rows from `program_id(0)` and their columns from
// `program_id(1)`. Along x, each program then begins in other pages, and the
// processor prefetches little. So if the tiles of neighbours along y lie side
// by side in memory, programs run along y. Programs may run in any order, so
// what this file guesses costs time at worst.

#include "GridOrder.h"

#include "LoadPrefetch.h"
#include "Operations.h"
#include "ProgramOrder.h"
#include "Strides.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

constexpr unsigned axisX = 1, axisY = 2;

/// Calls `visit` with the operations that compute `value`. It returns whether
/// to go on to their operands.
static void walkOperands(Value value,
                         llvm::function_ref<bool(Operation *)> visit) {
  SmallVector<Value> pending = {value};
  DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && seen.insert(op).second && visit(op))
      llvm::append_range(pending, op->getOperands());
  }
}

/// Returns on which of the axes x and y of the grid `value` depends, as bits.
static unsigned axesOf(Value value) {
  unsigned axes = 0;
  walkOperands(value, [&](Operation *op) {
    if (auto id = dyn_cast<triton::GetProgramIdOp>(op))
      axes |= 1u << id.getAxisAsInt();
    return true;
  });
  return axes & (axisX | axisY);
}

/// Returns the argument of the function that `tensor` repeats, or null.
static BlockArgument repeatedArgument(Value tensor) {
  auto splat = tensor.getDefiningOp<triton::SplatOp>();
  Value scalar = splat ? splat.getSrc() : Value();
  if (auto extended = scalar ? scalar.getDefiningOp<arith::ExtSIOp>() : nullptr)
    scalar = extended.getIn();
  auto argument = dyn_cast_or_null<BlockArgument>(scalar);
  bool isOfFunction = argument &&
                      isa<triton::FuncOp>(argument.getOwner()->getParentOp()) &&
                      argument.getOwner()->isEntryBlock();
  return isOfFunction ? argument : BlockArgument();
}

namespace {
/// What the addresses of a 2-D tile are computed from, for each dimension.
struct Dimension {
  /// The axes of the grid.
  unsigned axes = 0;
  /// An argument by which the coordinate is multiplied, or null.
  BlockArgument stride;
};
} // namespace

/// Returns the dimensions of a 2-D tensor of pointers.
static std::array<Dimension, 2> dimensionsOf(Value pointers) {
  auto type = cast<RankedTensorType>(pointers.getType());
  std::array<Dimension, 2> found;
  walkOperands(pointers, [&](Operation *op) {
    auto part = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!part || part.getRank() != 2)
      return true;
    // A tensor such as `i[:, None]`, of one column, has coordinates of rows.
    for (int dim : {0, 1}) {
      if (part.getDimSize(1 - dim) == type.getDimSize(1 - dim))
        continue;
      found[dim].axes |= axesOf(op->getResult(0));
      if (isa<arith::MulIOp>(op))
        for (Value factor : op->getOperands())
          if (BlockArgument argument = repeatedArgument(factor))
            found[dim].stride = argument;
      return false;
    }
    return true;
  });
  return found;
}

GridOrder::GridOrder(triton::FuncOp function) {
  if (showsOrder(function))
    return;
  int along[2] = {0, 0}; // how many tiles lie side by side along x, and y
  bool isProduct = false;
  Strides known;
  DenseMap<Value, int64_t> nextAlong[2];
  function.walk([&](Operation *op) {
    isProduct |= isa<triton::DotOp>(op);
    if (!isa<triton::LoadOp, triton::StoreOp>(op))
      return;
    Value pointers = op->getOperand(0);
    auto type = dyn_cast<RankedTensorType>(pointers.getType());
    if (!type || type.getRank() != 2)
      return;
    std::array<Dimension, 2> dimensions = dimensionsOf(pointers);
    if (dimensions[0].axes + dimensions[1].axes != axisX + axisY ||
        !dimensions[0].axes || !dimensions[1].axes)
      return;
    Strides::Differences differences = known.of(pointers);
    for (int dim : {0, 1}) {
      bool isY = dimensions[dim].axes == axisY;
      bool mayBeOne = isY && !differences[dim] && differences[1 - dim] != 1 &&
                      dimensions[dim].stride;
      if (differences[dim] == 1)
        ++along[isY];
      else if (mayBeOne)
        strides.push_back(dimensions[dim].stride);
      int64_t rowBytes = type.getDimSize(dim) * pointeeBytes(type);
      if ((differences[dim] == 1 || mayBeOne) && rowBytes < pageBytes)
        nextAlong[isY][pointers] = rowBytes;
    }
  });
  mayRunAlongY = along[1] > along[0] && !isProduct;
  if (!isProduct)
    nextPrograms = nextAlong[mayRunAlongY];
}

Value GridOrder::runsAlongY(LaneBuilder &b, ArrayRef<Value> arguments) const {
  Value result = b.constant(b.getI1Type(), mayRunAlongY);
  for (BlockArgument stride : strides) {
    Value value = arguments[stride.getArgNumber()];
    Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                                        b.constant(value.getType(), 1));
    result = arith::AndIOp::create(b, result, isOne);
  }
  return result;
}
