// SPDX-License-Identifier: Apache-2.0
//
// How many registers the tiles of a loop take.

#ifndef TRITON_EXT_LOOP_SPLIT_TILEREGISTERS_H
#define TRITON_EXT_LOOP_SPLIT_TILEREGISTERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton_ext::loop_split {

/// Returns an estimate of how many 32-bit registers each of `threads` threads
/// needs for the tensors that are alive at the same time in the body of `loop`.
/// Does not count pointers, tensors that only matrix products read (they are in
/// shared memory), and tensors that Triton makes where they are used, such as
/// broadcasts.
int64_t tileRegisters(scf::ForOp loop, int64_t threads);

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_TILEREGISTERS_H
