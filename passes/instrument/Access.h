// SPDX-License-Identifier: Apache-2.0
//
// Accesses to global memory, as the pass counts them.

#ifndef TRITON_EXT_INSTRUMENT_ACCESS_H
#define TRITON_EXT_INSTRUMENT_ACCESS_H

#include "analysis/MemoryAccess.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::triton_ext::instrument {

/// One request to global memory.
struct Access : analysis::MemoryAccess {
  StringRef rule; ///< loaded, stored or atomic
  Value counted;  ///< the mask, or a smaller one whose lanes it repeats
  int64_t copies; ///< how often it repeats each
};

/// Returns the access of `op` to global memory; nullopt if it has none.
std::optional<Access> accessOf(Operation *op);

} // namespace mlir::triton_ext::instrument

#endif // TRITON_EXT_INSTRUMENT_ACCESS_H
