// SPDX-License-Identifier: Apache-2.0
//
// The loops that are still to be visited.

#ifndef TRITON_EXT_LOOP_SPLIT_WORKLIST_H
#define TRITON_EXT_LOOP_SPLIT_WORKLIST_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include <deque>

namespace mlir::triton_ext::loop_split {

/// Loops that wait for a visit; the first that came is visited first. A loop
/// that is erased does not wait any longer.
class Worklist : public RewriterBase::Listener {
public:
  /// Adds `loop` unless it waits already.
  void push(scf::ForOp loop) {
    if (waiting.insert(loop).second)
      queue.push_back(loop);
  }

  /// Returns the next loop, or null if none waits.
  scf::ForOp pop() {
    while (!queue.empty()) {
      Operation *next = queue.front();
      queue.pop_front();
      if (waiting.erase(next))
        return cast<scf::ForOp>(next);
    }
    return nullptr;
  }

  void notifyOperationErased(Operation *op) override { waiting.erase(op); }

private:
  /// Entries of erased loops stay in the queue and count for nothing, because
  /// only loops that are in `waiting` are visited. If a new loop has the
  /// address of an erased one, it is visited at that one's turn, and not again.
  std::deque<Operation *> queue;
  DenseSet<Operation *> waiting;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_WORKLIST_H
