// SPDX-License-Identifier: Apache-2.0
//
// Spin locks, by which programs take turns.

#ifndef TRITON_EXT_SANITIZER_LOCKS_H
#define TRITON_EXT_SANITIZER_LOCKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::triton_ext::sanitizer {

/// A loop that ends when the program has taken a lock.
struct Lock {
  scf::WhileOp acquire;
  Value pointer; ///< may be computed in the loop
};

/// Which operations of a kernel run while the program holds a lock: those
/// behind a loop that takes it, and before the operation of the same block that
/// sets it free.
class Locks {
public:
  explicit Locks(triton::FuncOp kernel);

  ArrayRef<Lock> heldIn(Operation *op) const;

  /// Whether an operation is a loop that takes a lock.
  bool isAcquire(Operation *op) const { return acquires.contains(op); }

  /// Whether an operation takes a lock or sets it free.
  bool isOfLock(Operation *op) const {
    return isAcquire(op) || isAcquire(op->getParentOp()) || others.contains(op);
  }

  /// Returns the pointer of a lock as a value that is defined before its loop.
  static Value pointerBefore(const Lock &lock);

private:
  DenseMap<Operation *, SmallVector<Lock, 1>> held;
  DenseSet<Operation *> acquires;
  /// What sets locks free, and what tries to take them before their loops.
  DenseSet<Operation *> others;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_LOCKS_H
