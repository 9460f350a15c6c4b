// SPDX-License-Identifier: Apache-2.0
//
// A second computation of the kernel's floats, for checks to look at.

#ifndef TRITON_EXT_SANITIZER_FLOATCOPY_H
#define TRITON_EXT_SANITIZER_FLOATCOPY_H

#include "Checks.h"

namespace mlir::triton_ext::sanitizer {

/// Computes floats again, in operations that the compiler cannot merge with
/// those of the kernel. How the kernel's are rounded depends on their uses: a
/// product becomes a part of a sum only if nothing else uses it. So a check of
/// the kernel's own values would change its results.
class FloatCopy {
public:
  explicit FloatCopy(Checker &checker) : checker(checker) {}

  /// Returns a value equal to `value`; the same one if it is not of floats.
  Value of(Value value);

private:
  Value hidden(Value value);

  Checker &checker;
  llvm::DenseMap<Value, Value> copies;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_FLOATCOPY_H
