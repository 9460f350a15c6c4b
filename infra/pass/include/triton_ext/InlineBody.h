// SPDX-License-Identifier: Apache-2.0
//
// Copies of the bodies of structured operations, such as reductions.

#ifndef TRITON_EXT_INLINEBODY_H
#define TRITON_EXT_INLINEBODY_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::triton_ext {

/// Clones the operations of a region of one block, with `arguments` in place of
/// those of the block. Returns the operands of its terminator.
inline SmallVector<Value> inlineBody(OpBuilder &builder, Region &body,
                                     ValueRange arguments) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.front().without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      body.front().getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_INLINEBODY_H
