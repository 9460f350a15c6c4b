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

  /// Returns whether the mask of `access` costs more than a predicate because
  /// of `condition`, which the mask is made of. It does if one instruction
  /// could access more elements without the condition: a mask that may change
  /// between two neighbours keeps them in different instructions. It also does
  /// if an instruction accesses less than 4 bytes, since a GPU copies no less
  /// asynchronously: then every element is a load with a predicate of its own.
  bool isNarrowedBy(const analysis::MemoryAccess &access, Value condition);

private:
  int64_t constancy(Value mask, Value without, unsigned dimension);

  analysis::AxisInfos infos;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_ACCESSWIDTH_H
