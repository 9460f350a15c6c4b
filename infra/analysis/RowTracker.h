// SPDX-License-Identifier: Apache-2.0
//
// Finds accesses that are strided along all dimensions but one.

#ifndef TRITON_EXT_ANALYSIS_ROWTRACKER_H
#define TRITON_EXT_ANALYSIS_ROWTRACKER_H

#include "analysis/LineTracker.h"
#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"

namespace mlir::triton_ext::analysis {

/// An access whose elements at one index of `dim`, a row, are strided and have
/// a box for a mask. The rows themselves lie anywhere, or have any mask.
struct Rows {
  /// Where the elements are, without `offsets`.
  Pointers pointers;
  unsigned dim;
  /// The offset of each row, in strides of `dim`, as a tensor of one dimension;
  /// null if it is the index of the row.
  Value offsets;
  /// Whether each row is accessed, as a tensor of one dimension; null if all
  /// are.
  Value mask;
  /// The elements that are accessed, of the rows where `mask` is true.
  Box box;
};

/// Returns how an access of a tensor of at least two dimensions is divided into
/// rows; nullopt if it is not. Only boxes for which `accept` returns true
/// become part of the box. It is first asked without a dimension, and once that
/// of the rows is known, with it. `mask` may be null.
std::optional<Rows>
trackRows(Value pointers, Value mask, IndexMath &math,
          function_ref<bool(const Box &, std::optional<unsigned> dim)> accept);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_ROWTRACKER_H
