// SPDX-License-Identifier: Apache-2.0
//
// Whether the kernel reads an integer as signed: MLIR's integers have no sign.

#ifndef TRITON_EXT_SANITIZER_SIGNS_H
#define TRITON_EXT_SANITIZER_SIGNS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::triton_ext::sanitizer {

/// Knows which integers of a kernel are unsigned, as operations such as an
/// unsigned division or comparison show. It looks at the kernel before checks
/// are inserted, whose comparisons say nothing about its values.
class Signs {
public:
  explicit Signs(Operation *kernel);

  /// Returns whether an integer, or a tensor of integers, is unsigned:
  /// `reader`, which may be null, decides, or else the operations that make or
  /// use the value, or one of the same type that it is computed with. Returns
  /// false if nothing shows it.
  bool isUnsigned(Value value, Operation *reader) const;

private:
  /// Of the values that are shown although no operation that reads them
  /// decides.
  DenseSet<Value> known;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_SIGNS_H
