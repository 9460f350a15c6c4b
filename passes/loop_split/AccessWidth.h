// SPDX-License-Identifier: Apache-2.0
//
// How wide an access to memory can be with its mask and without.

#ifndef TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H
#define TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H

#include "analysis/AxisInfo.h"
#include "analysis/MemoryAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton_ext::loop_split {

/// Facts of all accesses in the function around a loop. They hold until
/// something in it changes, and are computed when the first one is asked for.
/// What calls pass to the function is not known, so that it matters whether it
/// is inlined.
class AccessWidths {
public:
  explicit AccessWidths(scf::ForOp loop) : loop(loop) {}

  /// Returns whether one instruction could access more elements if
  /// `condition`, which the mask of `access` is made of, was true: elements
  /// between which the mask may change are accessed by different instructions.
  /// If it could not, the mask costs little: it is the predicate of an
  /// instruction that is needed anyway.
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
