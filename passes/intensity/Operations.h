// SPDX-License-Identifier: Apache-2.0
//
// Counts the FLOPs of single operations. Analyses; changes nothing.

#ifndef TRITON_EXT_INTENSITY_OPERATIONS_H
#define TRITON_EXT_INTENSITY_OPERATIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::intensity {

/// The FLOPs of one execution of an operation.
struct Flops {
  std::string kind; // add, mul, fma, div, transcendental or dot
  std::string type; // of the operands, e.g. bf16
  int64_t count;
};

/// The work of an operation that has no regions and does not access memory.
struct Computation {
  bool isKnown = false;
  std::optional<Flops> flops; // nullopt if it computes no FLOPs
};

/// Returns the computation of `op`; not known for an operation that has no
/// rule.
Computation computationOf(Operation *op);

/// Returns the number of elements of a tensor; 1 for a scalar.
int64_t elementsOf(Type type);

/// Returns the name of the element type of a tensor or scalar, e.g. "f32".
std::string typeName(Type type);

} // namespace mlir::triton_ext::intensity

#endif // TRITON_EXT_INTENSITY_OPERATIONS_H
