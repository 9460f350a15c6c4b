// SPDX-License-Identifier: Apache-2.0
//
// Loops over arrays, which are tensors or memrefs. A tensor that is written is
// handed from iteration to iteration, a memref stays what it is.

#ifndef TRITON_EXT_LOWERLINALGEXT_ARRAYS_H
#define TRITON_EXT_LOWERLINALGEXT_ARRAYS_H

#include "mlir/IR/Builders.h"

namespace mlir::triton_ext::lower_linalg_ext {

using Values = SmallVector<Value>;

/// The body of a loop: gets indices and the present values, gives the next.
using LoopBody = llvm::function_ref<Values(OpBuilder &, Location,
                                           ValueRange indices, ValueRange)>;
/// What is done under a condition.
using ThenBody =
    llvm::function_ref<Values(OpBuilder &, Location, ValueRange values)>;

Value indexConstant(OpBuilder &builder, Location loc, int64_t value);

/// The number of elements along each dimension.
Values sizesOf(OpBuilder &builder, Location loc, Value array);

Value loadFrom(OpBuilder &builder, Location loc, Value array,
               ValueRange indices);

/// Gives the array with the element stored.
Value storeInto(OpBuilder &builder, Location loc, Value element, Value array,
                ValueRange indices);

/// One loop for each size, from 0, the last one innermost. Among `values` may
/// be memrefs, which are handed to the body and not carried. Gives what the
/// last iteration did.
Values loopNest(OpBuilder &builder, Location loc, ValueRange sizes,
                ValueRange values, LoopBody body);

/// One loop.
Values loop(OpBuilder &builder, Location loc, Value from, Value to,
            ValueRange values, LoopBody body);

/// What the body makes of the values if the condition is true or null, the
/// values elsewhere.
Values ifTrue(OpBuilder &builder, Location loc, Value condition,
              ValueRange values, ThenBody then);

/// A copy of the operations of a body of one block. Gives what it yields.
Values inlineBody(OpBuilder &builder, Region &body, ValueRange arguments);

/// An integer as an index.
Value toIndex(OpBuilder &builder, Location loc, Value integer, bool isSigned);

/// Whether an integer is not 0.
Value toCondition(OpBuilder &builder, Location loc, Value integer);

/// The memref that a tensor was read from as a whole, or the array itself.
Value memoryOf(Value array);

/// A memref of its own with the elements of the array.
Value copyOf(OpBuilder &builder, Location loc, Value array);

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_ARRAYS_H
