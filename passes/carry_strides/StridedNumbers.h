// SPDX-License-Identifier: Apache-2.0
//
// The numbers that describe a strided tensor: the base if it is a tensor of
// pointers, the offset, and a stride for each dimension of more than one
// element. Offsets and strides of pointers are i64, and count elements.

#ifndef TRITON_EXT_CARRY_STRIDES_STRIDEDNUMBERS_H
#define TRITON_EXT_CARRY_STRIDES_STRIDEDNUMBERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::triton_ext::carry_strides {

/// Returns whether a tensor of this type can be described by such numbers: one
/// of pointers, or of integers of 32 or 64 bits.
bool isCarriable(Type type);

/// Returns whether it is a type of tensors of pointers.
bool isPointer(RankedTensorType type);

SmallVector<Type> numberTypes(RankedTensorType type);

/// Returns whether it is known where the elements of a tensor are, also if they
/// wrap around.
bool isTracked(Value tensor, OpBuilder &b);

/// Returns the base as a pointer of the element type of a tensor of pointers.
Value castBase(Value base, RankedTensorType type, OpBuilder &b, Location loc);

/// Returns the numbers of a tensor; nullopt if it is not known to be strided.
/// They are made at the builder's insertion point.
std::optional<SmallVector<Value>> trackNumbers(Value tensor, OpBuilder &b);

/// Returns the tensor of these numbers.
Value rebuild(RankedTensorType type, ValueRange numbers, OpBuilder &b,
              Location loc);

/// Returns offsets along one dimension as a tensor of this shape.
Value widen(Value offsets, ArrayRef<int64_t> shape, unsigned dim, OpBuilder &b,
            Location loc);

/// Returns whether two scalars are the same, if the values that `known`
/// contains equal what it maps them to.
bool isSame(Value a, Value b, const llvm::DenseMap<Value, Value> &known);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_STRIDEDNUMBERS_H
