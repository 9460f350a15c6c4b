// SPDX-License-Identifier: Apache-2.0
//
// Describes the access of an operation to global memory: the direction, the
// addresses, the mask, the number of elements and the size of one.

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
  /// The value of the lanes of a load that are off; null if it is undefined.
  Value other;
  /// The accessed value: an element, or a tensor of elements.
  Type type;
  /// The number of elements, including those that are off; 1 for a scalar.
  int64_t lanes;
  /// The bytes of one element.
  int64_t laneBytes;
};

/// Returns the access of `op` to global memory; nullopt if it has none. The
/// access of an operation on a descriptor is the whole box.
std::optional<MemoryAccess> memoryAccessOf(Operation *op);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_MEMORYACCESS_H
