// SPDX-License-Identifier: Apache-2.0
//
// How operations of this dialect are tiled. A plan tells which loops an
// operation has, and which part of each operand a tile needs. Given the plan,
// all operations share one implementation of TilingInterface.

#ifndef TRITON_EXT_LINALG_EXT_TILING_H
#define TRITON_EXT_LINALG_EXT_TILING_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

/// The part of one dimension of an operand that a tile needs.
struct TiledDim {
  enum Kind {
    /// All of the dimension.
    Whole,
    /// The tile's range of `loop`, whose trip count is the dimension's size.
    Loop,
    /// The tile's range of `loop`. The dimension may be longer than the loop.
    Part,
    /// The tile's range of `loop`, counted from the end of the dimension.
    Mirrored,
    /// The windows in the tile. `loop` counts windows, in steps of `stride`;
    /// `inner` counts the elements of a window, in steps of `dilation`.
    Window,
  };
  Kind kind = Whole;
  unsigned loop = 0, inner = 0;
  int64_t stride = 1, dilation = 1;

  static TiledDim along(unsigned loop) { return {Loop, loop}; }
};

/// The loops of an operation, and the part of each operand that a tile needs.
/// An operand whose list of dimensions is empty is passed on whole.
struct TilingPlan {
  SmallVector<utils::IteratorType> loops;
  SmallVector<SmallVector<TiledDim>> operands;
};

/// A tile of the iteration domain.
struct Tile {
  ArrayRef<OpFoldResult> offsets, sizes;
};

/// Returns the plan of an operation of this dialect that has TilingInterface.
TilingPlan getTilingPlan(Operation *op);

/// Returns the init whose new value is this result.
OpOperand &getInitOf(Operation *op, unsigned result);

// The methods of TilingInterface.
SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &builder);
FailureOr<TilingResult> getTiled(Operation *op, OpBuilder &builder, Tile tile);
LogicalResult getResultPosition(Operation *op, OpBuilder &builder,
                                unsigned result, Tile tile,
                                SmallVector<OpFoldResult> &offsets,
                                SmallVector<OpFoldResult> &sizes);
LogicalResult getIterationsOfResult(Operation *op, OpBuilder &builder,
                                    unsigned result, Tile position,
                                    SmallVectorImpl<OpFoldResult> &offsets,
                                    SmallVectorImpl<OpFoldResult> &sizes);
FailureOr<TilingResult> getResultTile(Operation *op, OpBuilder &builder,
                                      unsigned result, Tile position);
FailureOr<TilingResult>
getTiledFromOperands(Operation *op, OpBuilder &builder,
                     ArrayRef<unsigned> operands,
                     ArrayRef<SmallVector<OpFoldResult>> allOffsets,
                     ArrayRef<SmallVector<OpFoldResult>> allSizes);
LogicalResult
getIterationsOfOperands(Operation *op, OpBuilder &builder,
                        ArrayRef<unsigned> operands,
                        ArrayRef<SmallVector<OpFoldResult>> allOffsets,
                        ArrayRef<SmallVector<OpFoldResult>> allSizes,
                        SmallVectorImpl<OpFoldResult> &offsets,
                        SmallVectorImpl<OpFoldResult> &sizes);

// The methods of PartialReductionOpInterface. A part of a result is as large as
// the result and has one more dimension for each loop of `reduced`, in this
// order, which is as long as the loop's tile. Element number n of this
// dimension combines element number n of all tiles.
FailureOr<SmallVector<Value>>
getInitialParts(Operation *op, OpBuilder &builder, ArrayRef<OpFoldResult> sizes,
                const SetVector<unsigned> &reduced);
FailureOr<TilingResult> getTileOfParts(Operation *op, OpBuilder &builder,
                                       ReductionTilingStrategy strategy,
                                       ValueRange parts, Tile tile,
                                       const SetVector<unsigned> &reduced);
FailureOr<MergeResult> mergeParts(Operation *op, OpBuilder &builder,
                                  ValueRange parts,
                                  const SetVector<unsigned> &reduced);
LogicalResult getPositionOfParts(Operation *op, OpBuilder &builder,
                                 unsigned result,
                                 ReductionTilingStrategy strategy, Tile tile,
                                 const SetVector<unsigned> &reduced,
                                 SmallVector<OpFoldResult> &offsets,
                                 SmallVector<OpFoldResult> &sizes);

/// Sets the sizes of all results, which are those of their inits.
LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes);

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_TILING_H
