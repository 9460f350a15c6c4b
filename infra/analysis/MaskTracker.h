// SPDX-License-Identifier: Apache-2.0
//
// Masks that are true in a box, by how they were computed.

#ifndef TRITON_EXT_ANALYSIS_MASKTRACKER_H
#define TRITON_EXT_ANALYSIS_MASKTRACKER_H

#include "analysis/IndexMath.h"

namespace mlir::triton_ext::analysis {

/// The elements from low[d] to below high[d] in each dimension d; none if they
/// are equal in one.
struct Box {
  SmallVector<OpFoldResult> low, high;
};

/// All of a tensor of this shape.
Box wholeOf(ArrayRef<int64_t> shape, IndexMath &math);

/// Whether the box is known to be the whole of a tensor of this shape.
bool isWhole(const Box &box, ArrayRef<int64_t> shape);

/// Whether the box is known to have no element of a tensor of this shape.
bool isNothing(const Box &box, ArrayRef<int64_t> shape);

/// Tracks a mask that is true inside of a box and false outside of it: through
/// constants, comparisons of offsets that grow by one along one dimension, and,
/// select with false, casts to wider integers and back, broadcast, splat,
/// expand_dims, reshape and trans.
std::optional<Box> trackMask(Value mask, IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_MASKTRACKER_H
