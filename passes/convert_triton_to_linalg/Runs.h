// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores elements whose places in memory are known as strides, also
// if they wrap around. Other passes use it for accesses that say so themselves.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_RUNS_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_RUNS_H

#include "Access.h"

namespace mlir::triton_ext::convert_triton_to_linalg {

/// A part of a tensor that is strided in memory.
struct Run {
  /// The pointers of the run, which do not wrap around.
  Pointers pointers;
  /// The elements, counted from the place of `pointers`.
  Box memory;
  /// The elements, counted from the beginning of the tensor.
  Box elements;
};

/// Returns whether the elements can be divided into runs: a dimension along
/// which an offset wraps around has no other offset.
TRITON_EXT_EXPORTED bool haveRuns(const Pointers &pointers);

/// Calls `body` for each run of the elements in a box, in loops if they wrap
/// around. `state` is null or a tensor: `body` gets the current one and returns
/// the next. Returns the last one.
TRITON_EXT_EXPORTED Value
forEachRun(Access &access, const Pointers &pointers, const Box &box,
           Value state, function_ref<Value(const Run &, Value)> body);

/// Returns the tensor `into` with the elements of a run that are in memory.
TRITON_EXT_EXPORTED Value loadRun(Access &access, const Run &run, Value into);
/// Stores the elements of a run of the tensor `value`.
TRITON_EXT_EXPORTED void storeRun(Access &access, const Run &run, Value value);

/// Returns what a load starts with: `other` (a tensor) or, without it, zeros;
/// an undefined tensor if the box contains all elements.
TRITON_EXT_EXPORTED Value getAround(Access &access, const Box &box,
                                    Value other);

/// Loads the elements of the box. The elements around it are `other`.
TRITON_EXT_EXPORTED Value loadBox(Access &access, const Pointers &pointers,
                                  const Box &box, Value other);
/// Stores the elements of the box.
TRITON_EXT_EXPORTED void storeBox(Access &access, const Pointers &pointers,
                                  const Box &box, Value value);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_RUNS_H
