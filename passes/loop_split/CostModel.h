// SPDX-License-Identifier: Apache-2.0
//
// Whether it pays to split a loop. In a loop that is software-pipelined, each
// split costs more than code: one pipeline has to end and another one to begin,
// and ptxas needs a few registers more. So something has to disappear that
// costs as much.

#ifndef TRITON_EXT_LOOP_SPLIT_COSTMODEL_H
#define TRITON_EXT_LOOP_SPLIT_COSTMODEL_H

#include "Condition.h"

namespace mlir::triton_ext::loop_split {

/// A condition for which the loop is not split, and why.
struct Decline {
  Condition condition;
  std::string reason;
  /// Whether work that depends on the condition may be moved into a branch.
  bool mayGuard = false;
};

/// The limits, from the options of the pass and of the compilation.
struct CostLimits {
  int64_t threads; // of a program; 0 if it is not known
  int64_t maxRegisters;
  int64_t maxRefills;
  uint64_t splitTrips;
  uint64_t guardTrips;
  bool noWrap;
};

/// Returns those of `conditions` for which it does not pay to split `loop`.
/// Leaves out those that do not change in the loop. The module is the same
/// afterwards.
SmallVector<Decline, 0> declineToSplit(RewriterBase &rewriter, scf::ForOp loop,
                                       ArrayRef<Condition> conditions,
                                       const CostLimits &limits);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_COSTMODEL_H
