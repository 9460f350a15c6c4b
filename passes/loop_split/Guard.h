// SPDX-License-Identifier: Apache-2.0
//
// Leaves a loop whole and puts the selects under a mask into a branch, which is
// taken only in iterations in which the mask is not true for all elements.

#ifndef TRITON_EXT_LOOP_SPLIT_GUARD_H
#define TRITON_EXT_LOOP_SPLIT_GUARD_H

#include "Condition.h"

namespace mlir::triton_ext::loop_split {

/// Replaces each select of tensors in `loop` whose condition is made of some of
/// `conditions` by a branch: where these are true for all elements, neither
/// they nor the select are computed. Masks of memory accesses stay. Returns the
/// comparisons for which the loop need not be split any more: those that the
/// branches depend on, and those inside of the branches.
SmallVector<arith::CmpIOp> guardMasks(RewriterBase &rewriter, scf::ForOp loop,
                                      ArrayRef<Condition> conditions,
                                      bool noWrap);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_GUARD_H
