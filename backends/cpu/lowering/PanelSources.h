// SPDX-License-Identifier: Apache-2.0
//
// What the right operand of a product in a loop is computed from: whether a
// later program can know that its operand is the same.

#ifndef TRITON_EXT_CPU_PANELSOURCES_H
#define TRITON_EXT_CPU_PANELSOURCES_H

#include "Plan.h"
#include "ProgramOrder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton_ext::cpu {

/// What an operand in a loop is computed from.
struct PanelSources {
  scf::ForOp loop;
  const Plan &plan;
  llvm::SetVector<Value> key;
  SmallVector<triton::LoadOp> loads;
  /// The values that have been visited, by `isPacked`.
  DenseSet<Value> seen[2];

  /// Returns false if something else than scalars and the iteration matters.
  /// `isPacked` is whether the loop that packs the operand evaluates the value,
  /// and with it the loads that it is computed from.
  bool visit(Value value, bool isPacked);
  bool visitArgument(BlockArgument argument);
};

/// Returns whether programs of the kernel may tell each other that they have
/// written memory.
bool synchronizes(triton::FuncOp function);

/// Returns whether neighbours among the programs have different values, as of
/// `id` and `id % columns`, but not of `id / rows`.
bool differsByProgram(Value value, const ProgramOrder &order);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_PANELSOURCES_H
