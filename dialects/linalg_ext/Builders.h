// SPDX-License-Identifier: Apache-2.0
//
// Helpers of this dialect's builders.

#ifndef TRITON_EXT_LINALG_EXT_BUILDERS_H
#define TRITON_EXT_LINALG_EXT_BUILDERS_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

/// Adds a body that yields its argument number `handedOn`.
inline void addBody(OpBuilder &builder, OperationState &state,
                    ArrayRef<Type> arguments, unsigned handedOn = 0) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(arguments.size(), state.location);
  Block *block =
      builder.createBlock(state.addRegion(), {}, arguments, locations);
  YieldOp::create(builder, state.location, block->getArgument(handedOn));
}

/// Returns the result type for this init, or no type for a memref. `storage`
/// holds the type that the returned range refers to.
inline TypeRange resultOf(Value init, Type &storage) {
  storage = init.getType();
  return isa<RankedTensorType>(storage) ? TypeRange(storage) : TypeRange();
}

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_BUILDERS_H
