// SPDX-License-Identifier: Apache-2.0
//
// Prefetches of what the next iteration of a loop loads. The reason: rows of a
// tile are short, and each lies in other pages, so the processor finds no
// stream that it could follow.

#ifndef TRITON_EXT_CPU_LOADPREFETCH_H
#define TRITON_EXT_CPU_LOADPREFETCH_H

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::cpu {

/// A row of a page or more is a stream that the processor follows.
constexpr int64_t pageBytes = 4096;

/// Returns the distance in bytes from what `load` reads to what it reads in the
/// next iteration of its loop, if that lies directly behind each row of its
/// tile. Returns 0 if it does not, or if it is not worth a prefetch.
int64_t bytesToNextIteration(triton::LoadOp load);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_LOADPREFETCH_H
