// SPDX-License-Identifier: Apache-2.0
//
// Describes an access by a tensor descriptor as operations of tts take it.

#ifndef TRITON_EXT_DESCRIPTORTOSTRUCTURED_BLOCKACCESS_H
#define TRITON_EXT_DESCRIPTORTOSTRUCTURED_BLOCKACCESS_H

#include "analysis/IndexMath.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton_ext::descriptor_to_structured {

/// Makes the operations of one access to a block.
struct BlockAccess {
  BlockAccess(Operation *op, Value descriptor);

  /// Returns what elements outside of the tensor read as.
  Value zeroOrNaN();
  /// Rounds the mantissa to ten bits, to the nearest even number, if the
  /// descriptor says so. NaN and infinity stay.
  Value roundToTf32(Value value);
  Value reshape(Value value, Type to);
  /// Returns the bounds of a block that begins at these indices; nothing where
  /// there is no index, because the pointers have a mask there.
  SmallVector<OpFoldResult> boundsOf(ArrayRef<Value> indices);
  /// Returns the pointers to the block at these indices.
  Value pointersAt(ValueRange indices);
  /// Returns the pointers to a part of each of these rows, from `column` on,
  /// with a mask of the rows that exist.
  Value rowsAt(Value rows, Value column);

  OpBuilder builder;
  Location loc;
  analysis::IndexMath math{builder, loc};
  RankedTensorType type;
  size_t rank;
  /// What Triton makes of a descriptor, in this order.
  Value base;
  SmallVector<Value> shape, strides;
  Value padsNaN, rounds;
};
} // namespace mlir::triton_ext::descriptor_to_structured

#endif // TRITON_EXT_DESCRIPTORTOSTRUCTURED_BLOCKACCESS_H
