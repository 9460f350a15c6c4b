// SPDX-License-Identifier: Apache-2.0
//
// The part of a loop that can run a second time behind it.

#ifndef TRITON_EXT_SANITIZER_LOOPSLICE_H
#define TRITON_EXT_SANITIZER_LOOPSLICE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::triton_ext::sanitizer {

/// A loop nest, reduced to some operations in it and to what their operands and
/// the control flow around them need. The second run computes the values of the
/// first one again: each iteration of each loop, from scalars at its start.
class LoopSlice {
public:
  /// How a wanted branch is copied: as a branch, or as its body alone. Bodies
  /// are right only if they may run where the condition of the branch is false.
  enum class Copies { Branches, Bodies };

  /// Returns the slice of `loop` for `wanted`, branches without results in it.
  /// Returns nullopt if something that they need depends on memory, so that a
  /// second run may find another value, or is a tensor from outside of the
  /// loop, which would have to be kept for it.
  static std::optional<LoopSlice> of(scf::ForOp loop,
                                     ArrayRef<scf::IfOp> wanted, Copies what);

  /// Builds the slice.
  void build(OpBuilder &b) const;

private:
  LoopSlice(scf::ForOp loop, Copies what) : loop(loop), what(what) {}

  bool needControlAround(Operation *op);
  bool needWhole(Operation *op);
  bool need(Value value);
  bool needAll();

  void buildBlock(Block *from, OpBuilder &b, IRMapping &copies) const;
  void buildLoop(scf::ForOp from, OpBuilder &b, IRMapping &copies) const;
  void buildBranch(scf::IfOp from, OpBuilder &b, IRMapping &copies) const;

  scf::ForOp loop;
  Copies what;
  DenseSet<Operation *> wanted;
  /// Operations of the slice. A loop or a branch that is not in `wanted` is
  /// there with what is needed of it only.
  DenseSet<Operation *> operations;
  /// Values of the slice. A loop-carried value is there as the argument of the
  /// loop's body.
  DenseSet<Value> values;
  SmallVector<Value> worklist;
};

/// Whether `op` has no effects and computes the same result if it runs again.
bool isRepeatable(Operation *op);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_LOOPSLICE_H
