// SPDX-License-Identifier: Apache-2.0
//
// Instead of splitting a loop: a branch around what masks decide about, taken
// only in iterations in which a mask is not true for all elements.

#ifndef TRITON_EXT_LOOP_SPLIT_GUARD_H
#define TRITON_EXT_LOOP_SPLIT_GUARD_H

#include "Condition.h"

namespace mlir::triton_ext::loop_split {

/// The results of the selects of tensors in `loop` whose condition is made of
/// some of `conditions`, and those of `conditions`. In iterations in which
/// these are true for all elements, a branch does not compute them. Masks of
/// memory accesses stay. Returns the comparisons that are of no further use:
/// what the branches depend on and what is in them.
SmallVector<arith::CmpIOp>
guardMasks(scf::ForOp loop, ArrayRef<Condition> conditions, bool noWrap);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_GUARD_H
