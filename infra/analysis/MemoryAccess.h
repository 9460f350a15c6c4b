// SPDX-License-Identifier: Apache-2.0
//
// What an operation asks of global memory: the direction, the addresses, the
// mask, the number of elements and the size of one.

#ifndef TRITON_EXT_ANALYSIS_MEMORYACCESS_H
#define TRITON_EXT_ANALYSIS_MEMORYACCESS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::triton_ext::analysis {

/// One request to global memory.
struct MemoryAccess {
  enum class Kind { Load, Store, Atomic };

  Operation *op;
  Kind kind;
  /// Whether the operation reads or writes each of its elements atomically.
  /// Atomic loads and stores are a Load and a Store.
  bool isAtomic;
  /// A pointer or a tensor of pointers; null if the operation has a descriptor.
  Value pointer;
  /// A descriptor; null if the operation has pointers.
  Value descriptor;
  /// i1 or a tensor of i1; null if every lane is on.
  Value mask;
  /// What lanes of a load read that are off; null if that is undefined.
  Value other;
  /// What is accessed: an element, or a tensor of them.
  Type type;
  /// Elements, also those that are off; 1 for a scalar.
  int64_t lanes;
  /// Bytes of one element.
  int64_t laneBytes;
};

/// Returns what `op` asks of global memory; nullopt if it does not access it.
/// Of an operation on a descriptor it is the whole box.
std::optional<MemoryAccess> memoryAccessOf(Operation *op);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_MEMORYACCESS_H
