// SPDX-License-Identifier: Apache-2.0
//
// The part of an array that a tile needs.

#ifndef TRITON_EXT_LINALG_EXT_TILINGSLICES_H
#define TRITON_EXT_LINALG_EXT_TILINGSLICES_H

#include "Tiling.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace mlir::triton_ext::linalg_ext {

using Numbers = SmallVector<OpFoldResult>;

/// Builds affine expressions of offsets and sizes.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;

  /// Returns the value of `expression` with `numbers` as d0, d1, ...
  OpFoldResult apply(AffineExpr expression, ArrayRef<OpFoldResult> numbers) {
    auto map = AffineMap::get(numbers.size(), 0, expression);
    return affine::makeComposedFoldedAffineApply(builder, loc, map, numbers);
  }

  OpFoldResult minimum(OpFoldResult a, OpFoldResult b) {
    auto map = AffineMap::getMultiDimIdentityMap(2, builder.getContext());
    return affine::makeComposedFoldedAffineMin(builder, loc, map, {a, b});
  }

  OpFoldResult maximum(OpFoldResult a, OpFoldResult b) {
    auto map = AffineMap::getMultiDimIdentityMap(2, builder.getContext());
    return affine::makeComposedFoldedAffineMax(builder, loc, map, {a, b});
  }

  AffineExpr d(unsigned i) { return getAffineDimExpr(i, builder.getContext()); }
};

/// A part of an array.
struct Slice {
  Numbers offsets, sizes;
};

/// Returns the number of elements along a dimension.
OpFoldResult sizeOf(OpBuilder &builder, Location loc, Value array, int64_t dim);

/// Returns the part of `array` that the tile needs.
Slice getSlice(OpBuilder &builder, Location loc, Value array,
               ArrayRef<TiledDim> dims, Tile tile);

/// Returns this part of `array` as a value. Appends the operation that takes it
/// to `made`, unless the part is the whole array.
Value takeSlice(OpBuilder &builder, Location loc, Value array,
                const Slice &slice, SmallVector<Operation *> &made);

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_TILINGSLICES_H
