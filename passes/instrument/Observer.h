// SPDX-License-Identifier: Apache-2.0
//
// Inserts probes beside the operation that they observe.

#ifndef TRITON_EXT_INSTRUMENT_OBSERVER_H
#define TRITON_EXT_INSTRUMENT_OBSERVER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "probe/Probe.h"

namespace mlir::triton_ext::instrument {

/// Inserts probes with the location of one operation, at first before it. The
/// rules of a probe, words with a space between them, say what it observes; the
/// host reads them (dialects/probe/api/_lines.py).
class Observer {
public:
  explicit Observer(Operation *op) : Observer(op, op->getLoc()) {}
  /// As above, with another location.
  Observer(Operation *op, Location loc) : b(loc, op) {}

  /// Inserts a probe that counts how often it runs, or the active lanes of
  /// `mask`. Each count stands for `weight` bytes and for `lanes` lanes, if
  /// they are not 0.
  void count(StringRef rules, int64_t weight = 0, int64_t lanes = 0,
             Value mask = {}) {
    Operation *op = probe::CountOp::create(b, rules, mask);
    mark(op, rules);
    if (weight)
      op->setAttr("probe.weight", b.getI64IntegerAttr(weight));
    if (lanes)
      op->setAttr("probe.lanes", b.getI64IntegerAttr(lanes));
  }

  /// Says what a probe observes.
  void mark(Operation *op, StringRef rules) {
    op->setAttr("probe.rules", b.getStringAttr(rules));
  }

  ImplicitLocOpBuilder b;
};

/// Inserts probes that count how often `loop` begins, and its iterations.
void observeIterations(scf::ForOp loop);
void observeIterations(scf::WhileOp loop);

/// Measures the time from `first` until before `end`, of the same block or of
/// one that each way from there leads to.
void observeTime(Operation *first, Operation *end, StringRef name,
                 Location loc);

/// Inserts a probe that records the NaNs that `op` makes, if it can make any.
void observeNaNs(Operation *op);

} // namespace mlir::triton_ext::instrument

#endif // TRITON_EXT_INSTRUMENT_OBSERVER_H
