// SPDX-License-Identifier: Apache-2.0
//
// The sites of a kernel: its probes but for clocks, launch words and ends of
// regions, where their counters lie, and the table that describes them to the
// host.

#ifndef TRITON_EXT_LOWER_PROBE_SITES_H
#define TRITON_EXT_LOWER_PROBE_SITES_H

#include "RegionLoops.h"

#include "probe/Probe.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::lower_probe {

class Clock;

/// Returns the number of elements of the tensors among the operands of `op`; 0
/// if all are scalars.
int64_t numLanesOf(Operation *op);

/// Returns whether a pass that has inserted `op` tells the host more about it.
inline bool hasNote(Operation *op) {
  return isa<probe::FailuresOp>(op) || op->hasAttr("probe.note");
}

struct Sites {
  /// Sorts the probes of a kernel. The number of a site is its place among
  /// those that are neither clocks, launch words nor ends of regions.
  Sites(triton::FuncOp kernel, ArrayRef<Operation *> probes,
        const Clock &clock);

  unsigned numberOf(Operation *op) const;

  SmallVector<Operation *> ops; ///< one for each site, which may be repeated
  SmallVector<probe::RegionBeginOp> regions;
  SmallVector<probe::ClockOp> clocks;
  SmallVector<probe::LaunchWordOp> launchWords;
  bool hasSlot = false; ///< whether an operation needs a launch slot
  SmallVector<probe::RaiseOp> raises;
  SmallVector<probe::FollowOp> follows;
  SmallVector<RegionLoop, 0> loops;
  /// For each site its line, and for a histogram the first line of its bins.
  SmallVector<int64_t> lines, binLines;
  int64_t numLines = 0;
  int64_t recordsOfBlock = 0; ///< of regions, but for those of `loops`
  std::string table;          ///< JSON
  /// A hash of the table, whose low bits are free.
  int64_t key = 0;

private:
  void placeLines();
};

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_SITES_H
