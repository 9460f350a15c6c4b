// SPDX-License-Identifier: Apache-2.0
//
// Accesses of elements by index, for this pass and others.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_INDEXED_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_INDEXED_H

#include "Access.h"

namespace mlir::triton_ext::convert_triton_to_linalg {

/// A view of unbounded memory, and windows with the index of each element in
/// it.
using MemoryAndIndices = std::pair<Value, Value>;

/// Loads the elements at their indices. If there is a mask, the elements where
/// it is false are those of the tensor `other` or, without it, zeros.
TRITON_EXT_EXPORTED Value loadIndexed(Access &access,
                                      const MemoryAndIndices &where, Value mask,
                                      Value other);
/// Stores the elements at their indices, where there is no mask or it is true.
TRITON_EXT_EXPORTED void storeIndexed(Access &access,
                                      const MemoryAndIndices &where, Value mask,
                                      Value value);

/// Loads one element, a scalar; `other` or 0 if there is a mask that is false.
TRITON_EXT_EXPORTED Value loadElement(Access &access, const Pointers &pointer,
                                      Value mask, Value other);
/// Stores one element if there is no mask or it is true.
TRITON_EXT_EXPORTED void storeElement(Access &access, const Pointers &pointer,
                                      Value mask, Value value);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_INDEXED_H
