// SPDX-License-Identifier: Apache-2.0
//
// Compares the code of two looks.

#ifndef TRITON_EXT_SANITIZER_LIKENESS_H
#define TRITON_EXT_SANITIZER_LIKENESS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::triton_ext::sanitizer {

/// Compares one look with the first one of its group.
class Likeness {
public:
  bool areAlike(Region &one, Region &other);

  /// Operands of the first look that are another scalar in the other one.
  llvm::MapVector<OpOperand *, Value> scalars;
  /// Constants, launch words and reports of the first look, with those of the
  /// other one.
  llvm::MapVector<Operation *, Operation *> partners;

private:
  bool areAlike(Operation *one, Operation *other);
  bool areAlike(OpOperand &one, Value other);

  DenseMap<Value, Value> counterparts;
};

/// Returns the value of an integer constant, or the one value of all elements
/// of a constant tensor of integers; null if `op` is neither.
IntegerAttr integerOf(Operation *op);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_LIKENESS_H
