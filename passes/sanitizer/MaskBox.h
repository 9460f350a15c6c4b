// SPDX-License-Identifier: Apache-2.0
//
// A box of elements outside of which a mask is false.

#ifndef TRITON_EXT_SANITIZER_MASKBOX_H
#define TRITON_EXT_SANITIZER_MASKBOX_H

#include "Strided.h"

namespace mlir::triton_ext::sanitizer {

/// All elements of a mask that are true lie in `box`. Inside of it some may be
/// false. analysis::trackMask() finds boxes that are exact, of fewer masks.
struct MaskBox {
  Box box;
  /// i1, or null for yes: if it is false, no element is true.
  Value isAny;
  /// i1, or null for always. Where it is false, this says nothing.
  Value valid;
  /// Whether all elements in the box are true, if `isAny` is.
  bool isExact = true;
};

/// Returns the box of a mask, which may be a scalar; null is a mask that is
/// always true.
MaskBox maskBox(Value mask, ArrayRef<int64_t> shape, StridedTracker &tracker);

/// Returns whether the box has elements, as an i1, or null for always. The
/// answer is false if `isAny` is.
Value hasElements(const MaskBox &mask, IndexMath &math);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_MASKBOX_H
