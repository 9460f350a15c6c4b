// SPDX-License-Identifier: Apache-2.0
//
// Answers two questions about integers: is one a multiple of the step, and
// which of two is the greater?

#ifndef TRITON_EXT_LOOP_SPLIT_KNOWN_H
#define TRITON_EXT_LOOP_SPLIT_KNOWN_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::triton_ext::loop_split {

/// Wide enough for sums and products of numbers of 64 bits.
constexpr unsigned wideBits = 256;

/// Whether the number is known to be a multiple of `factor`, a power of two.
bool isMultipleOf(Value value, const APInt &factor);

/// A sum of multiples of scalars in numbers without a width; its numbers have
/// `wideBits`.
struct Sum {
  llvm::SmallMapVector<Value, APInt, 4> terms;
  APInt constant = APInt::getZero(wideBits);

  /// Adds `factor` times the value. Sums and products with constants are taken
  /// apart, but not those for which `isTerm` holds. A sum of 2^depth terms
  /// takes that many steps; 8 levels are more than a kernel writes for a bound.
  void add(Value value, const APInt &factor,
           llvm::function_ref<bool(Value)> isTerm, unsigned depth = 8);
};

/// Marks operations that are executed only because a loop is split: what they
/// compute may wrap.
constexpr llvm::StringLiteral speculatedAttr = "triton_ext.speculated";

/// Whether lhs <= rhs (signed) is known, if only speculated sums, differences
/// and products may wrap. `depth` bounds how many nested minima and maxima are
/// taken apart, because each doubles the steps. A place is clamped twice, and
/// the kernel may have clamped it before.
bool isAtMost(Value lhs, Value rhs, unsigned depth = 4);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_KNOWN_H
