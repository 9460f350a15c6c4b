// SPDX-License-Identifier: Apache-2.0
//
// How many registers the tiles of a loop take.

#ifndef TRITON_EXT_LOOP_SPLIT_TILEREGISTERS_H
#define TRITON_EXT_LOOP_SPLIT_TILEREGISTERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton_ext::loop_split {

/// Returns an estimate of the 32-bit registers of one of `threads` threads
/// that the tensors take which are alive at the same time in the body of
/// `loop`. Not counted are tensors that only matrix products read, which lie in
/// shared memory, pointers, and tensors with a value for each row or column.
int64_t tileRegisters(scf::ForOp loop, int64_t threads);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_TILEREGISTERS_H
