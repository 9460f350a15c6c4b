// SPDX-License-Identifier: Apache-2.0
//
// Finds base, offset and strides of tensors of pointers, from how they are
// computed.

#ifndef TRITON_EXT_ANALYSIS_POINTERTRACKER_H
#define TRITON_EXT_ANALYSIS_POINTERTRACKER_H

#include "analysis/OffsetTracker.h"

namespace mlir::triton_ext::analysis {

/// Pointers: the scalar `base` and offsets from it, in elements.
struct Pointers {
  Value base;
  Offsets offsets;
};

/// Returns base, offset and strides of a pointer or a tensor of pointers;
/// nullopt if they cannot be shown to be strided. Tracks addptr, splats,
/// changes of shape, bitcasts to elements of the same size, selects and
/// branches that depend on one bit. A loop-carried pointer is a base if it is a
/// scalar; a loop-carried tensor is not tracked.
std::optional<Pointers> trackPointers(Value value, IndexMath &math);

/// A tensor of pointers as a scalar base plus the sum of tensors of offsets, in
/// elements. The offsets need not be strided.
struct PointerSum {
  Value base;
  SmallVector<Value> addends;
};

/// Returns the base and the addends of `value`, found by following addptr to a
/// splat. Changes of shape on the way are applied to the addends.
std::optional<PointerSum> trackPointerSum(Value value, IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_POINTERTRACKER_H
