// SPDX-License-Identifier: Apache-2.0
//
// Helpers that the lowerings of atomics with and without indices share.

#ifndef TRITON_EXT_LOWERLINALGEXT_ATOMICS_H
#define TRITON_EXT_LOWERLINALGEXT_ATOMICS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::triton_ext::lower_linalg_ext {

/// Stores the value if the bits in memory are those of `expected`, atomically.
/// Returns the previous value.
Value exchangeIfSame(OpBuilder &builder, Location loc, Value memory,
                     ValueRange indices, Value expected, Value value);

/// Returns the memref that an atomic changes: the one that its tensor was read
/// from, or else a copy that has no other users.
Value memoryToChange(OpBuilder &builder, Location loc, Value memory);

/// Replaces the results of an atomic: the changed memory if that is a tensor,
/// and the previous values if their init is a tensor.
void replaceAtomic(Operation *op, Value memory, Value changed, ValueRange old,
                   RewriterBase &rewriter);

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_ATOMICS_H
