// SPDX-License-Identifier: Apache-2.0
//
// What is visible of an integer from the operations that it is computed with.

#ifndef TRITON_EXT_LOOP_SPLIT_KNOWN_H
#define TRITON_EXT_LOOP_SPLIT_KNOWN_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::triton_ext::loop_split {

/// Wide enough for sums and products of numbers of 64 bits.
constexpr unsigned wideBits = 256;

/// Whether the number is visibly a multiple of `factor`, a power of two, modulo
/// the size of its type.
bool isMultipleOf(Value value, const APInt &factor, unsigned depth = 8);

/// A sum of multiples of scalars, without a modulus; its numbers have
/// `wideBits`.
struct Sum {
  llvm::SmallMapVector<Value, APInt, 4> terms;
  APInt constant = APInt::getZero(wideBits);

  /// Adds `factor` times the value, taken apart into sums and products with
  /// constants where `isTerm` does not say otherwise.
  void add(Value value, const APInt &factor,
           llvm::function_ref<bool(Value)> isTerm, unsigned depth = 8);
};

/// On operations that are executed only because a loop is split. What they
/// compute may have wrapped.
constexpr llvm::StringLiteral speculatedAttr = "triton_ext.speculated";

/// Whether lhs <= rhs (signed), if nothing wraps that is not speculated.
bool isAtMost(Value lhs, Value rhs, unsigned depth = 8);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_KNOWN_H
