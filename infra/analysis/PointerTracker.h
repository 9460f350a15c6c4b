// SPDX-License-Identifier: Apache-2.0
//
// Tensors of pointers that grow evenly along each dimension, by how they were
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

/// Tracks a tensor of pointers or a pointer: through addptr, splats, changes of
/// shape, bitcasts to elements of one size, selects and branches that depend on
/// one bit. Of what loops carry only the parts are tracked that are scalars.
std::optional<Pointers> trackPointers(Value value, IndexMath &math);

/// A pointer tensor as a scalar base and a sum of tensors of integers, whose
/// elements may be anything; in elements.
struct PointerSum {
  Value base;
  SmallVector<Value> addends;
};

/// Follows addptr to a splat; makes tensors of the shape of `value`.
std::optional<PointerSum> trackPointerSum(Value value, IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_POINTERTRACKER_H
