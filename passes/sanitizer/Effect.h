// SPDX-License-Identifier: Apache-2.0
//
// Finds the lanes of a value that have an effect, and reports faults in these
// lanes only.

#ifndef TRITON_EXT_SANITIZER_EFFECT_H
#define TRITON_EXT_SANITIZER_EFFECT_H

#include "Checks.h"
#include "Condition.h"

namespace mlir::triton_ext::sanitizer {

/// The lanes of a value that reach a store, an atomic operation or a branch.
struct Effect {
  /// Whether no lane has an effect.
  bool isNone = false;
  /// A lane has an effect if all conditions of one of these hold. Conditions
  /// that cannot be computed near the value are left out. Empty if every lane
  /// may have an effect.
  SmallVector<Conditions> ways;
  /// The operation behind which all conditions are known, in the block of the
  /// value.
  Operation *known = nullptr;

  /// Returns the effect of the lanes of `value` that have all of `facts`.
  static Effect of(OpResult value, ArrayRef<Condition> facts);
  /// Returns the lanes that may have an effect, of this shape; null if all may.
  Value materialize(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape) const;
};

/// Reports the lanes of `bad`: i1, or a tensor of i1. The check is in a branch
/// that is taken if any lane is bad. `fill` completes the finding in this
/// branch.
void reportWhere(Checker &checker, ImplicitLocOpBuilder &b, Value bad,
                 StringRef check, Operation *op,
                 llvm::function_ref<void(Finding &)> fill);

/// Returns the name of the variable that holds the value, or `otherwise`.
std::string nameOf(Value value, StringRef otherwise);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_EFFECT_H
