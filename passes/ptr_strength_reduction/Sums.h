// SPDX-License-Identifier: Apache-2.0
//
// Sums of tensors and of scalars that are added to all of their elements.

#ifndef TRITON_EXT_PTRSTRENGTHREDUCTION_SUMS_H
#define TRITON_EXT_PTRSTRENGTHREDUCTION_SUMS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::triton_ext::ptr_strength_reduction {

/// Returns the scalar that all elements of `value` equal, or null.
Value getScalar(Value value, OpBuilder &builder);
bool isUniform(Value value);
bool isPointer(Type type);
/// Returns the type in which offsets of values of `type` are added up, without
/// its shape: i64 for pointers.
Type offsetTypeOf(Type type);
/// Extends an offset to the type in which offsets are added up.
Value extend(Value value, Type element, OpBuilder &builder);
/// Returns the sum of `start` and the offset.
Value addOffset(OpBuilder &builder, Location loc, Value start, Value offset);

/// Makes every choice between sums of the same tensor and other scalars choose
/// the scalars. A choice is a select by one bit or the result of an scf.if.
void chooseScalars(Operation *top, IRRewriter &rewriter);

} // namespace mlir::triton_ext::ptr_strength_reduction

#endif // TRITON_EXT_PTRSTRENGTHREDUCTION_SUMS_H
