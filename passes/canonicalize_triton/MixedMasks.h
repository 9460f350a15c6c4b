// SPDX-License-Identifier: Apache-2.0
//
// Separates bounds from other masks.

#ifndef TRITON_EXT_CANONICALIZETRITON_MIXEDMASKS_H
#define TRITON_EXT_CANONICALIZETRITON_MIXEDMASKS_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::canonicalize_triton {

/// Makes each load whose mask is the conjunction of a box and of other masks
/// load the box and select by the others. Without `speculate`, only does so if
/// another access, which is executed whenever the load is, shows that all of
/// the box can be read.
void separateMasks(Operation *top, bool speculate);

} // namespace mlir::triton_ext::canonicalize_triton

#endif // TRITON_EXT_CANONICALIZETRITON_MIXEDMASKS_H
