// SPDX-License-Identifier: Apache-2.0
//
// Finds offset and strides of tensors of integers, from how they are computed.

#ifndef TRITON_EXT_ANALYSIS_OFFSETTRACKER_H
#define TRITON_EXT_ANALYSIS_OFFSETTRACKER_H

#include "analysis/OffsetMath.h"

namespace mlir::triton_ext::analysis {

/// Returns offset and strides of a tensor of integers of 32 bits or more, or of
/// a scalar; nullopt if it cannot be shown to be strided. Tracks constants,
/// ranges, splats, sums, differences, products, shifts and remainders with a
/// splat, changes of shape, casts that keep the values, selects and branches
/// that depend on one bit. As Triton's own analyses do, it assumes that sums
/// and products of offsets do not wrap.
std::optional<Offsets> trackOffsets(Value value, IndexMath &math);

//===----------------------------------------------------------------------===//
// For PointerTracker
//===----------------------------------------------------------------------===//

/// A value that is one of two values, chosen by a condition.
struct Choice {
  Value condition, yes, no;
};

/// Returns the choice that a select or an scf.if makes; nullopt if the
/// condition is not one bit that can be used at the insertion point.
std::optional<Choice> getChoice(Value value, IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_OFFSETTRACKER_H
