// SPDX-License-Identifier: Apache-2.0
//
// Takes rare branches out of loops.

#ifndef TRITON_EXT_SANITIZER_DEFERLOOKS_H
#define TRITON_EXT_SANITIZER_DEFERLOOKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton_ext::sanitizer {

/// A branch without results that looks at the lanes of an access.
struct Look {
  Operation *access;
  scf::IfOp branch;
};

/// Returns the outermost loop behind which a look can be moved; null if there
/// is none.
scf::ForOp loopFor(const Look &look);

/// Moves each look behind the outermost loop that can run again for it. The
/// loop carries one bit, which says whether any of its looks was to be taken;
/// if so, a slice of the loop runs behind it, with the looks in it. The others
/// stay where they are. `looks` is in the order of the accesses. Returns the
/// branches that are then in no loop.
SmallVector<scf::IfOp> deferLooks(ArrayRef<Look> looks);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_DEFERLOOKS_H
