// SPDX-License-Identifier: Apache-2.0
//
// How operations of this dialect are done a tile at a time: which loops go over
// them, and which part of each operand a tile needs. TilingInterface is the
// same for all, given that.

#ifndef TRITON_EXT_LINALG_EXT_TILING_H
#define TRITON_EXT_LINALG_EXT_TILING_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

/// What a tile needs of one dimension of an operand.
struct TiledDim {
  enum Kind {
    /// All of it.
    Whole,
    /// What the loop goes over; the dimension is as long as the loop.
    Loop,
    /// The same, of a dimension that may be longer than the loop.
    Part,
    /// The same, from the other end.
    Mirrored,
    /// Windows that `loop` goes over, in steps of `stride`, each of which
    /// `inner` goes over in steps of `dilation`.
    Window,
  };
  Kind kind = Whole;
  unsigned loop = 0, inner = 0;
  int64_t stride = 1, dilation = 1;

  static TiledDim along(unsigned loop) { return {Loop, loop}; }
};

/// The loops of an operation and what they need of its operands. An operand
/// without dimensions here is needed as it is.
struct TilingPlan {
  SmallVector<utils::IteratorType> loops;
  SmallVector<SmallVector<TiledDim>> operands;
};

/// A tile of the iterations.
struct Tile {
  ArrayRef<OpFoldResult> offsets, sizes;
};

/// The plan of an operation that has the TilingInterface.
TilingPlan getTilingPlan(Operation *op);

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

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_TILING_H
