// SPDX-License-Identifier: Apache-2.0
//
// How an operation that takes a part of a tensor, an element or a slice, moves
// over the operation that computes the tensor.

#ifndef TRITON_EXT_EXTRACTLIKEMOVEBACKWARD_MOVES_H
#define TRITON_EXT_EXTRACTLIKEMOVEBACKWARD_MOVES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::triton_ext::extract_like_move_backward {

/// Returns the element, computed from elements of the operands of the operation
/// that computes the tensor, or null if the extract has to stay. Appends the
/// extracts that it creates to `made`.
Value computeElement(tensor::ExtractOp op, SmallVector<Operation *> &made);

/// Does the same for a slice.
Value computeSlice(tensor::ExtractSliceOp op, SmallVector<Operation *> &made);

/// Collapses the dimensions of one element that `op` drops. `slice` is the same
/// slice with all dimensions.
Value dropDims(OpBuilder &builder, tensor::ExtractSliceOp op, Value slice);

/// Loops that carry a part of a tensor beside the tensor.
class CarriedParts {
public:
  /// If `op` takes a part of a result of a loop that is computed elementwise
  /// from the carried tensor, lets the loop carry the part, too. Returns the
  /// part as a result of the loop, or null.
  Value carry(Operation *op, SmallVector<Operation *> &made);
  /// If `op` takes a part of a carried tensor that the loop carries as well,
  /// returns that part, or null.
  Value find(Operation *op) const;
  /// Yields each carried tensor unchanged, if nothing else depends on it, so
  /// that the next canonicalization erases it.
  void release();

private:
  struct Part {
    scf::ForOp loop;
    unsigned tensor, part;
    /// An operation that takes this part.
    Operation *like;
  };
  /// Returns whether something besides `op` needs the last value of a carried
  /// tensor. The loops `without` carry it on, but do not need it.
  static bool isNeeded(OpResult tensor, Operation *op, ArrayRef<Part> without);

  SmallVector<Part> parts;
};

/// Returns whether each element of the result is computed from the elements of
/// the inputs alone.
bool dependsOnInputsOnly(linalg::MapOp map);

} // namespace mlir::triton_ext::extract_like_move_backward

#endif // TRITON_EXT_EXTRACTLIKEMOVEBACKWARD_MOVES_H
