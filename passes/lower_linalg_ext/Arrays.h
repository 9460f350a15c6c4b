// SPDX-License-Identifier: Apache-2.0
//
// Loops over arrays, which are tensors or memrefs. Loops carry a tensor that is
// written from iteration to iteration; a memref is changed in place.

#ifndef TRITON_EXT_LOWERLINALGEXT_ARRAYS_H
#define TRITON_EXT_LOWERLINALGEXT_ARRAYS_H

#include "mlir/IR/Builders.h"

namespace mlir::triton_ext::lower_linalg_ext {

using Values = SmallVector<Value>;

/// The body of a loop: takes indices and the current values, returns the next
/// ones.
using LoopBody = llvm::function_ref<Values(OpBuilder &, Location,
                                           ValueRange indices, ValueRange)>;
/// The body of a branch: takes the current values, returns the next ones.
using ThenBody =
    llvm::function_ref<Values(OpBuilder &, Location, ValueRange values)>;

Value indexConstant(OpBuilder &builder, Location loc, int64_t value);

/// Returns the number of elements along each dimension.
Values sizesOf(OpBuilder &builder, Location loc, Value array);

Value loadFrom(OpBuilder &builder, Location loc, Value array,
               ValueRange indices);

/// Returns the array with the element stored.
Value storeInto(OpBuilder &builder, Location loc, Value element, Value array,
                ValueRange indices);

/// Creates a loop from 0 to each size; the last one is the innermost. Memrefs
/// among `values` are passed to the body and not carried. Returns the values
/// after the last iteration.
Values loopNest(OpBuilder &builder, Location loc, ValueRange sizes,
                ValueRange values, LoopBody body);

/// Creates one loop.
Values loop(OpBuilder &builder, Location loc, Value from, Value to,
            ValueRange values, LoopBody body);

/// Returns the result of the body if the condition is true or null, otherwise
/// `values`.
Values ifTrue(OpBuilder &builder, Location loc, Value condition,
              ValueRange values, ThenBody then);

/// Casts an integer to an index.
Value toIndex(OpBuilder &builder, Location loc, Value integer, bool isSigned);

/// Returns whether an integer is not 0.
Value toCondition(OpBuilder &builder, Location loc, Value integer);

/// Returns the memref that the whole tensor was read from, or the array itself.
Value memoryOf(Value array);

/// Returns a new memref with a copy of the elements of the array.
Value copyOf(OpBuilder &builder, Location loc, Value array);

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_ARRAYS_H
