// SPDX-License-Identifier: Apache-2.0
//
// Which iterations belong to a part of a result or of an operand. With it, an
// operation is computed in the loops of a user of its result, or of the
// operation that computes its operand.

#include "Tiling.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

/// Returns whether the part covers all of this dimension of the array. It may
/// if the dimension is dynamic, too, but then this is not known.
static bool isWhole(Tile part, unsigned dim, ShapedType type) {
  return isConstantIntValue(part.offsets[dim], 0) &&
         isConstantIntValue(part.sizes[dim], type.getDimSize(dim));
}

LogicalResult mlir::triton_ext::linalg_ext::getIterationsOfResult(
    Operation *op, OpBuilder &builder, unsigned result, Tile position,
    SmallVectorImpl<OpFoldResult> &offsets,
    SmallVectorImpl<OpFoldResult> &sizes) {
  OpOperand &init = getInitOf(op, result);
  auto type = cast<ShapedType>(init.get().getType());
  SmallVector<TiledDim> dims =
      getTilingPlan(op).operands[init.getOperandNumber()];
  dims.resize(type.getRank());
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (dim.kind != TiledDim::Loop && !isWhole(position, number, type))
      return failure();
  }
  for (Range range : getIterationDomain(op, builder)) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (dim.kind != TiledDim::Loop)
      continue;
    offsets[dim.loop] = position.offsets[number];
    sizes[dim.loop] = position.sizes[number];
  }
  return success();
}

FailureOr<TilingResult>
mlir::triton_ext::linalg_ext::getResultTile(Operation *op, OpBuilder &builder,
                                            unsigned result, Tile position) {
  Numbers offsets, sizes;
  if (failed(
          getIterationsOfResult(op, builder, result, position, offsets, sizes)))
    return failure();
  FailureOr<TilingResult> tiled = getTiled(op, builder, {offsets, sizes});
  if (failed(tiled))
    return failure();
  return TilingResult{
      tiled->tiledOps, {tiled->tiledValues[result]}, tiled->generatedSlices};
}

LogicalResult mlir::triton_ext::linalg_ext::getIterationsOfOperands(
    Operation *op, OpBuilder &builder, ArrayRef<unsigned> operands,
    ArrayRef<SmallVector<OpFoldResult>> allOffsets,
    ArrayRef<SmallVector<OpFoldResult>> allSizes,
    SmallVectorImpl<OpFoldResult> &offsets,
    SmallVectorImpl<OpFoldResult> &sizes) {
  TilingPlan plan = getTilingPlan(op);
  SmallVector<std::optional<Range>> found(plan.loops.size());
  for (auto [number, partOffsets, partSizes] :
       llvm::zip(operands, allOffsets, allSizes)) {
    auto type = dyn_cast<ShapedType>(op->getOperand(number).getType());
    if (!type)
      return failure();
    SmallVector<TiledDim> dims = plan.operands[number];
    dims.resize(type.getRank());
    Tile part{partOffsets, partSizes};
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (isWhole(part, d, type))
        continue;
      // A part of a reduced dimension gives a part of a sum, and the loop of
      // the producer would hand it to all users as if it were the sum.
      bool isLoop = dim.kind == TiledDim::Loop;
      if (!isLoop || plan.loops[dim.loop] != utils::IteratorType::parallel)
        return failure();
      std::optional<Range> &range = found[dim.loop];
      if (range &&
          (range->offset != part.offsets[d] || range->size != part.sizes[d]))
        return failure();
      range = Range{part.offsets[d], part.sizes[d], builder.getIndexAttr(1)};
    }
  }
  for (auto [range, whole] :
       llvm::zip(found, getIterationDomain(op, builder))) {
    offsets.push_back(range ? range->offset : whole.offset);
    sizes.push_back(range ? range->size : whole.size);
  }
  return success();
}

FailureOr<TilingResult> mlir::triton_ext::linalg_ext::getTiledFromOperands(
    Operation *op, OpBuilder &builder, ArrayRef<unsigned> operands,
    ArrayRef<SmallVector<OpFoldResult>> allOffsets,
    ArrayRef<SmallVector<OpFoldResult>> allSizes) {
  SmallVector<OpFoldResult> offsets, sizes;
  if (failed(getIterationsOfOperands(op, builder, operands, allOffsets,
                                     allSizes, offsets, sizes)))
    return failure();
  return getTiled(op, builder, {offsets, sizes});
}
