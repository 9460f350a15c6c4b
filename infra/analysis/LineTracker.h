// SPDX-License-Identifier: Apache-2.0
//
// Finds tensors whose elements depend on the index along one dimension only,
// and takes sums apart into such tensors.

#ifndef TRITON_EXT_ANALYSIS_LINETRACKER_H
#define TRITON_EXT_ANALYSIS_LINETRACKER_H

#include "analysis/IndexMath.h"

namespace mlir::triton_ext::analysis {

/// The elements of a tensor: those of the one-dimensional tensor `value` along
/// the dimension `dim`, repeated along all others. Without a `dim`, `value` is
/// a scalar that all elements equal.
struct Line {
  Value value;
  std::optional<unsigned> dim;
};

/// Returns the elements of a tensor as a line; nullopt if they depend on
/// several indices, as far as is known. Follows splats, changes of shape and
/// elementwise operations, which it makes anew on lines. Every tensor of one
/// dimension is a line.
std::optional<Line> trackLine(Value value, IndexMath &math);

/// Returns tensors of integers whose sum is `value`, which are as many as the
/// additions in its definition allow. Assumes, as trackOffsets() does, that
/// sums of 32 bits and more do not wrap.
SmallVector<Value> getSummands(Value value, IndexMath &math);

/// Returns a copy of `op` whose first operand is `operand`, at the insertion
/// point of `math`. If `op` is a change of shape, the element type of the
/// result becomes that of `operand`.
Value rebuildOn(Operation *op, Value operand, IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_LINETRACKER_H
