// SPDX-License-Identifier: Apache-2.0
//
// How wide an access to memory can be with its mask and without.

#ifndef TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H
#define TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H

#include "analysis/AxisInfo.h"
#include "analysis/MemoryAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton_ext::loop_split {

/// The facts of all accesses in the function around a loop. They are computed
/// at the first question, and hold until the function changes. The analysis
/// does not see the arguments that calls pass to the function; it sees them
/// once the function is inlined.
class AccessWidths {
public:
  explicit AccessWidths(scf::ForOp loop) : loop(loop) {}

  /// Returns whether one instruction could access more elements if
  /// `condition`, a part of the mask of `access`, was true. Reason: the mask
  /// must be the same for all elements of one instruction. If the mask does not
  /// narrow the access, it costs little: it is the predicate of an instruction
  /// that is needed anyway.
  bool isNarrowedBy(const analysis::MemoryAccess &access, Value condition);

private:
  analysis::AxisInfo infoOf(Value value);
  int64_t constancy(Value mask, Value without, unsigned dimension,
                    unsigned depth = 16);

  scf::ForOp loop;
  std::optional<analysis::AxisInfos> infos;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H
