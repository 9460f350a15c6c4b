// SPDX-License-Identifier: Apache-2.0
//
// How wide an access to memory can be with its mask and without.

#ifndef TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H
#define TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H

#include "analysis/AxisInfo.h"
#include "analysis/MemoryAccess.h"

namespace mlir::triton_ext::loop_split {

/// Facts of all accesses in a module. They hold until something in it changes.
class AccessWidths {
public:
  explicit AccessWidths(Operation *module) : infos(module) {}

  /// Returns whether one instruction could access more elements if
  /// `condition`, which the mask of `access` is made of, was true: elements
  /// between which the mask may change are accessed by different instructions.
  /// If it could not, the mask costs little: it is the predicate of an
  /// instruction that is needed anyway.
  bool isNarrowedBy(const analysis::MemoryAccess &access, Value condition);

private:
  int64_t constancy(Value mask, Value without, unsigned dimension);

  analysis::AxisInfos infos;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H
