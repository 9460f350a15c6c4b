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

/// Moves products that one operation uses, and changes of their shape, before
/// that operation. LLVM makes a product a part of a sum only in the same basic
/// block, and a check between the two ends the block.
void keepProductsBesideSums(triton::FuncOp kernel);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_FLOATCOPY_H
