// SPDX-License-Identifier: Apache-2.0
//
// The numbers that describe a tensor of pointers that is strided along all
// dimensions but one: the base, the offset, and a stride for each other
// dimension of more than one element. The last one is a tensor of i64, the
// line: one offset for each index along the dimension that is not strided.

#ifndef TRITON_EXT_CARRY_STRIDES_GATHEREDNUMBERS_H
#define TRITON_EXT_CARRY_STRIDES_GATHEREDNUMBERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton_ext::carry_strides {

/// Returns the only dimension along which a tensor of pointers is not strided;
/// nullopt if it is strided along all, or not along several, as far as is
/// known.
std::optional<unsigned> findGathers(Value tensor, OpBuilder &b);

SmallVector<Type> gatheredTypes(RankedTensorType type, unsigned dim);

/// Returns the numbers of a tensor; nullopt if it is not known to be strided
/// along all dimensions but `dim`. They are made at the builder's insertion
/// point.
std::optional<SmallVector<Value>> trackGathered(Value tensor, unsigned dim,
                                                OpBuilder &b);

/// Returns the tensor of these numbers.
Value rebuildGathered(RankedTensorType type, unsigned dim, ValueRange numbers,
                      OpBuilder &b, Location loc);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_GATHEREDNUMBERS_H
