// SPDX-License-Identifier: Apache-2.0
//
// Branches that yield the numbers of tensors.

#ifndef TRITON_EXT_CARRY_STRIDES_BRANCHES_H
#define TRITON_EXT_CARRY_STRIDES_BRANCHES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton_ext::carry_strides {

/// Makes a branch yield the numbers of those results that cannot be tracked
/// from behind it, such as a tensor that a loop in one arm advances, and makes
/// the tensors from the numbers. May replace the operation.
void yieldNumbers(scf::IfOp branch);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_BRANCHES_H
