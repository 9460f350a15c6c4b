// SPDX-License-Identifier: Apache-2.0
//
// Where pointers come from.

#ifndef TRITON_EXT_SANITIZER_ROOTS_H
#define TRITON_EXT_SANITIZER_ROOTS_H

#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton_ext::sanitizer {

/// The origins of a pointer or a tensor of pointers.
struct Roots {
  /// Pointers that are arguments of the kernel, by their numbers.
  llvm::SmallSetVector<unsigned, 4> arguments;
  /// Pointers and tensors of pointers that were loaded, or integers that were
  /// made pointers.
  llvm::SmallSetVector<Value, 4> others;
  /// Whether there may be more of which nothing is known.
  bool isOpen = false;
  /// Whether an offset may have been added to an origin.
  bool hasOffset = false;
};

/// Returns the origins of `value`. Follows addptr, changes of shape, casts,
/// loops, branches and selects.
Roots rootsOf(Value value, triton::FuncOp kernel);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_ROOTS_H
