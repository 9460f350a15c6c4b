// SPDX-License-Identifier: Apache-2.0
//
// Finds the box in which a mask is true, from how the mask is computed.

#ifndef TRITON_EXT_ANALYSIS_MASKTRACKER_H
#define TRITON_EXT_ANALYSIS_MASKTRACKER_H

#include "analysis/IndexMath.h"

namespace mlir::triton_ext::analysis {

/// The elements in [low[d], high[d]) in each dimension d. The box is empty if
/// low[d] equals high[d] in one dimension.
struct Box {
  SmallVector<OpFoldResult> low, high;
};

/// Returns the box of all elements of a tensor of this shape.
Box wholeOf(ArrayRef<int64_t> shape, IndexMath &math);

/// Returns whether the box is known to contain every element of a tensor of
/// this shape.
bool isWhole(const Box &box, ArrayRef<int64_t> shape);

/// Returns whether the box is known to contain no element of a tensor of this
/// shape.
bool isNothing(const Box &box, ArrayRef<int64_t> shape);

/// Returns the box inside of which `mask` is true and outside of which it is
/// false; nullopt if none is found. Tracks constants, comparisons of offsets of
/// stride 1 along one dimension, `and`, select with false, casts to wider
/// integers and back, broadcast, splat, expand_dims, reshape and trans.
std::optional<Box> trackMask(Value mask, IndexMath &math);

/// Returns the box of the elements that both boxes contain.
Box intersect(const Box &a, const Box &b, ArrayRef<int64_t> shape,
              IndexMath &math);

/// A mask that is the conjunction of a box and of other masks.
struct SplitMask {
  Box box;
  SmallVector<Value> rest;
};

/// Takes a mask apart, through conjunctions and changes of shape. Only boxes
/// for which `accept` returns true become part of the box.
SplitMask splitMask(Value mask, function_ref<bool(const Box &)> accept,
                    IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_MASKTRACKER_H
