// SPDX-License-Identifier: Apache-2.0
//
// What an operation asks of global memory.

#ifndef TRITON_EXT_INSTRUMENT_ACCESS_H
#define TRITON_EXT_INSTRUMENT_ACCESS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlir::triton_ext::instrument {

/// One request to global memory.
struct Access {
  StringRef rule;    ///< loaded, stored or atomic
  Value mask;        ///< i1 or a tensor of i1; null if every lane is on
  Value counted;     ///< the mask, or a smaller one whose lanes it repeats
  int64_t copies;    ///< how often it repeats each
  int64_t lanes;     ///< elements, also those that are off; 1 for a scalar
  int64_t laneBytes; ///< bytes of one element
};

/// Returns what `op` asks of global memory; nothing if it does not access it.
/// Of an operation on a descriptor it is the whole box.
std::optional<Access> accessOf(Operation *op);

} // namespace mlir::triton_ext::instrument

#endif // TRITON_EXT_INSTRUMENT_ACCESS_H
