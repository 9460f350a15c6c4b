// SPDX-License-Identifier: Apache-2.0
//
// Computes some elements of a tensor again.

#ifndef TRITON_EXT_SANITIZER_LANEBUILDER_H
#define TRITON_EXT_SANITIZER_LANEBUILDER_H

#include "Strided.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::triton_ext::sanitizer {

/// Computes the elements of tensors at given coordinates, with the operations
/// that the kernel has computed the tensors with. So a rare path needs scalars
/// only: the tensors need not be kept for it, which would cost registers, and
/// in a pipelined loop copies of them for each stage.
class LaneBuilder {
public:
  /// Computes `numLanes` elements at once.
  LaneBuilder(StridedTracker &tracker, ImplicitLocOpBuilder &b,
              int64_t numLanes)
      : tracker(tracker), b(b), numLanes(numLanes) {}

  /// Whether the elements of `value` can be computed again.
  bool canBuild(Value value) {
    unsigned budget = 300;
    return canBuild(value, budget);
  }
  /// Returns the coordinates in a tensor of `shape` of the elements whose
  /// row-major places are `places`.
  SmallVector<Value> coordinatesOf(Value places, ArrayRef<int64_t> shape);
  /// Returns the elements of `value`, which canBuild() has accepted, at the
  /// coordinates: tensors of i32, one for each dimension.
  Value build(Value value, ArrayRef<Value> coordinates);

  Value constant(int64_t value, Type type);
  Value splat(Value scalar);

private:
  bool canBuild(Value value, unsigned &budget);
  Value buildMoved(const StridedTracker::Moved &moved, Value value,
                   ArrayRef<Value> coordinates);
  Value buildReshaped(Operation *op, ArrayRef<Value> coordinates);
  Type like(Type element) { return RankedTensorType::get({numLanes}, element); }

  StridedTracker &tracker;
  ImplicitLocOpBuilder &b;
  int64_t numLanes;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_LANEBUILDER_H
