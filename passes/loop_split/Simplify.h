// SPDX-License-Identifier: Apache-2.0
//
// Removes from a loop what a comparison that has become constant makes
// unnecessary.

#ifndef TRITON_EXT_LOOP_SPLIT_SIMPLIFY_H
#define TRITON_EXT_LOOP_SPLIT_SIMPLIFY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir::triton_ext::loop_split {

/// Returns the patterns through which a constant condition reaches the work
/// that depends on it: the branches, selects and masks of Work.cpp.
FrozenRewritePatternSet getSimplifications(MLIRContext *context);

/// Applies `patterns`, and the folders of all operations, inside of `loop`.
/// Notifies the listener of `rewriter`.
void simplify(scf::ForOp loop, const FrozenRewritePatternSet &patterns,
              RewriterBase &rewriter);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_SIMPLIFY_H
