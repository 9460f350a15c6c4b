// SPDX-License-Identifier: Apache-2.0
//
// Finds offset and strides of tensors of integers, from how they are computed.

#ifndef TRITON_EXT_ANALYSIS_OFFSETTRACKER_H
#define TRITON_EXT_ANALYSIS_OFFSETTRACKER_H

#include "analysis/IndexMath.h"

namespace mlir::triton_ext::analysis {

/// The element at (i0, i1, ...) is offset + strides[0] * i0 + strides[1] * i1
/// and so on. Strides of dimensions of one element are 0.
struct Offsets {
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
};

/// Returns offset and strides of a tensor of integers of 32 bits or more, or of
/// a scalar; nullopt if it cannot be shown to be strided. Tracks constants,
/// ranges, splats, sums, differences, products and shifts with a splat, changes
/// of shape, casts that keep the values, selects and branches that depend on
/// one bit. As Triton's own analyses do, it assumes that sums and products of
/// offsets do not wrap.
std::optional<Offsets> trackOffsets(Value value, IndexMath &math);

//===----------------------------------------------------------------------===//
// For PointerTracker
//===----------------------------------------------------------------------===//

/// Returns the strides after a change of shape; nullopt if the result is not
/// strided.
std::optional<SmallVector<OpFoldResult>>
reshapeStrides(Operation *op, ArrayRef<OpFoldResult> strides, IndexMath &math);

/// A value that is one of two values, chosen by a condition.
struct Choice {
  Value condition, yes, no;
};

/// Returns the choice that a select or an scf.if makes; nullopt if the
/// condition is not one bit that can be used at the insertion point.
std::optional<Choice> getChoice(Value value, IndexMath &math);

/// Returns the offsets of a choice between values with the offsets `yes` and
/// `no`.
Offsets chooseOffsets(Value condition, const Offsets &yes, const Offsets &no,
                      IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_OFFSETTRACKER_H
