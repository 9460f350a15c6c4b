// SPDX-License-Identifier: Apache-2.0
//
// The differences of neighbouring elements of a tensor, to choose the dimension
// along which lanes are computed together.
//
// These are guesses, not facts: a wrong one costs time, and never gives a wrong
// result. analysis/AxisInfo.h, which has the facts, refuses what may be wrong.
// Example: nothing is known of neighbours in `p + i % m`, where m is an
// argument. But lanes should lie along i, because nearly all are contiguous.

#ifndef TRITON_EXT_CPU_STRIDES_H
#define TRITON_EXT_CPU_STRIDES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mlir::triton_ext::cpu {

class Strides {
public:
  using Differences = SmallVector<std::optional<int64_t>, 4>;

  /// Returns, for each dimension of `tensor`, the difference of two neighbours
  /// along it, modulo 2^width and read as signed; nullopt if it is unknown or
  /// varies. Differences of pointers are in elements.
  ///
  /// The result does not hold for every pair of neighbours: if a remainder, or
  /// the operand of an extension, wraps around between two neighbours, their
  /// difference is another one. The result is good enough to choose a
  /// dimension.
  Differences of(Value tensor);

private:
  Differences compute(Value tensor);

  DenseMap<Value, Differences> known;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_STRIDES_H
