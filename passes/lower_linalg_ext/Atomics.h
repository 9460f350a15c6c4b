// SPDX-License-Identifier: Apache-2.0
//
// What atomics with and without indices have in common.

#ifndef TRITON_EXT_LOWERLINALGEXT_ATOMICS_H
#define TRITON_EXT_LOWERLINALGEXT_ATOMICS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::triton_ext::lower_linalg_ext {

/// Stores the value if the bits there are those of `expected`, in one step.
/// Gives what was there.
Value exchangeIfSame(OpBuilder &builder, Location loc, Value memory,
                     ValueRange indices, Value expected, Value value);

/// The memref that an atomic changes: what a tensor was read from, or a copy
/// that nobody else has.
Value memoryToChange(OpBuilder &builder, Location loc, Value memory);

/// Replaces an atomic that gives memory anew, if that is a tensor, and what was
/// there, if the init is.
void replaceAtomic(Operation *op, Value memory, Value changed, ValueRange old,
                   RewriterBase &rewriter);

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_ATOMICS_H
