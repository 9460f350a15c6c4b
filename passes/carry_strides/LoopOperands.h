// SPDX-License-Identifier: Apache-2.0
//
// Loops that carry more values.

#ifndef TRITON_EXT_CARRY_STRIDES_LOOPOPERANDS_H
#define TRITON_EXT_CARRY_STRIDES_LOOPOPERANDS_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::carry_strides {

/// Returns whether the operation is a loop that is rewritten: `scf.for` or
/// `scf.while`.
bool isLoop(Operation *op);

/// Puts a loop with more operands, arguments and results, which come last, in
/// place of this one and returns it. Its terminators are left as they are, so
/// they lack the operands that go with the new arguments.
Operation *extendLoop(Operation *loop, ValueRange inits, TypeRange resultTypes);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_LOOPOPERANDS_H
