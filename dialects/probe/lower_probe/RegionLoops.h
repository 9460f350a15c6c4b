// SPDX-License-Identifier: Apache-2.0
//
// Finds the loops whose number of records is known before they run.

#ifndef TRITON_EXT_LOWER_PROBE_REGION_LOOPS_H
#define TRITON_EXT_LOWER_PROBE_REGION_LOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "probe/Probe.h"

namespace mlir::triton_ext::lower_probe {

class Clock;

/// A loop with regions directly in its body. It takes room for the records of
/// all of its turns before it runs, so none of them has to look for room.
struct RegionLoop {
  scf::ForOp loop;
  /// The ends of its regions, in the order of the records of a turn.
  SmallVector<probe::RegionEndOp> ends;
  /// Where the records of each region begin in those of a turn.
  SmallVector<int64_t> offsets;
  int64_t recordsOfTurn = 0;

  /// Returns where the records of `end` begin in those of a turn, or nothing if
  /// they are not in this loop's room.
  std::optional<int64_t> offsetOf(probe::RegionEndOp end) const;
};

/// Returns how many records a region makes each time: one, or one of each warp.
int64_t recordsOf(probe::RegionBeginOp begin, const Clock &clock);

/// Returns the loops of the kernel with `regions` that take room for all of
/// their turns: `scf.for` outside of every other loop. A loop inside of another
/// one would wait for its room each time.
SmallVector<RegionLoop, 0> regionLoopsOf(ArrayRef<probe::RegionBeginOp> regions,
                                         const Clock &clock);

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_REGION_LOOPS_H
