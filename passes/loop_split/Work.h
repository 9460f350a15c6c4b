// SPDX-License-Identifier: Apache-2.0
//
// Which work in a loop depends on a comparison: a loop is split only for a
// comparison that branches, selects or masks depend on.

#ifndef TRITON_EXT_LOOP_SPLIT_WORK_H
#define TRITON_EXT_LOOP_SPLIT_WORK_H

#include "Condition.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::triton_ext::loop_split {

/// Calls `visit` for each use that makes `condition`, a boolean or a tensor of
/// booleans, decide about work: as the condition of a branch or a select, or as
/// a mask. If `condition` was a constant, the user would do less. Stops if
/// `visit` returns false.
void forEachDecided(Value condition,
                    llvm::function_ref<bool(OpOperand &)> visit);

/// Returns whether there is such a use.
bool decidesAboutWork(Value condition);

/// Returns whether a branch on one of the scalar `conditions` encloses `op`.
/// That branch already limits `op` to the iterations that need it.
bool isGuarded(arith::CmpIOp op, ArrayRef<Condition> conditions);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_WORK_H
