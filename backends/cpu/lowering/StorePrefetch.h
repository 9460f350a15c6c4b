// SPDX-License-Identifier: Apache-2.0
//
// Prefetches of the memory that a later store of the same tile writes. The
// reason: a loop with exponentials, or one that reads its tile again, leaves
// the memory idle, and the loop of the store waits for it.

#ifndef TRITON_EXT_CPU_STOREPREFETCH_H
#define TRITON_EXT_CPU_STOREPREFETCH_H

#include "Evaluator.h"
#include "Plan.h"

namespace mlir::triton_ext::cpu {

/// Moves the scalar arithmetic of the addresses of stores to its operands, so
/// that the addresses are known early: kernels write `out + row * stride` at
/// their end.
void hoistAddressesOfStores(triton::FuncOp function);

class StorePrefetch {
public:
  /// Looks for a store behind `root`, which computes `tensors` with lanes along
  /// `dim`. Finds none if the computation waits for memory itself, or if the
  /// addresses of the store are not known yet.
  StorePrefetch(LoweringContext &context, Plan &plan, Evaluator &evaluator,
                Operation *root, ValueRange tensors, int dim);

  /// Emits a prefetch of what the store writes at `coords`, if there is one.
  void emit(const Coords &coords);

private:
  bool isReady(Value address) const;
  bool wasRead(triton::LoadOp load, Operation *root) const;
  bool leavesMemoryIdle(Operation *root, ValueRange tensors) const;

  LoweringContext &context;
  Plan &plan;
  Evaluator &evaluator;
  triton::StoreOp store;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_STOREPREFETCH_H
