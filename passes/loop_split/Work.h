// SPDX-License-Identifier: Apache-2.0
//
// Which work in a loop depends on a comparison: a loop is split only for a
// comparison that branches, selects or masks depend on.

#ifndef TRITON_EXT_LOOP_SPLIT_WORK_H
#define TRITON_EXT_LOOP_SPLIT_WORK_H

#include "Condition.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::triton_ext::loop_split {

/// Calls `visit` for each use because of which an operation would do less if
/// `condition`, a boolean or a tensor of booleans, was a constant: that of a
/// branch, a select, or a mask. Stops if it returns false.
void forEachDecided(Value condition,
                    llvm::function_ref<bool(OpOperand &)> visit);

/// Returns whether there is such a use.
bool decidesAboutWork(Value condition);

/// Returns whether a branch on one of the scalar `conditions` encloses `op`.
/// Whoever wrote that branch has limited `op` to the iterations that need it.
bool isGuarded(arith::CmpIOp op, ArrayRef<Condition> conditions);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_WORK_H
