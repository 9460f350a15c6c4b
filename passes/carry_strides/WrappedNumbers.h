// SPDX-License-Identifier: Apache-2.0
//
// The numbers that describe a tensor of pointers that wraps around along some
// dimensions: the base, the offset, and a stride for each other dimension of
// more than one element. For each dimension that wraps around, the first
// dividend, the stride of the dividends and the modulus follow. Along such a
// dimension, a tensor that does not wrap around has a modulus that is greater
// than any offset.

#ifndef TRITON_EXT_CARRY_STRIDES_WRAPPEDNUMBERS_H
#define TRITON_EXT_CARRY_STRIDES_WRAPPEDNUMBERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::triton_ext::carry_strides {

/// Adds the dimensions along which a tensor of pointers wraps around to
/// `wraps`, which is empty at first. Returns false if all of them were in
/// `wraps` before, or if the tensor is not known to have one stride or one
/// remainder along each dimension.
bool addWraps(Value tensor, llvm::SmallBitVector &wraps, OpBuilder &b);

SmallVector<Type> wrappedTypes(RankedTensorType type,
                               const llvm::SmallBitVector &wraps);

/// Returns the numbers of a tensor; nullopt if it is not known to wrap around
/// along dimensions of `wraps` only, and once along each. They are made at the
/// builder's insertion point.
std::optional<SmallVector<Value>>
trackWrapped(Value tensor, const llvm::SmallBitVector &wraps, OpBuilder &b);

/// Returns the tensor of these numbers.
Value rebuildWrapped(RankedTensorType type, const llvm::SmallBitVector &wraps,
                     ValueRange numbers, OpBuilder &b, Location loc);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_WRAPPEDNUMBERS_H
