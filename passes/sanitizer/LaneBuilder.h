// SPDX-License-Identifier: Apache-2.0
//
// Computes some elements of a tensor again.

#ifndef TRITON_EXT_SANITIZER_LANEBUILDER_H
#define TRITON_EXT_SANITIZER_LANEBUILDER_H

#include "Strided.h"

#include "analysis/MemoryAccess.h"

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

/// Some lanes of an access.
struct SomeLanes {
  Value pointer;
  Value mask;   ///< of the same shape; null if all are on
  Value number; ///< of each lane; null if they are all lanes
  Value first;  ///< the least of the numbers, i32; null for 0
};

/// Whether the pointers and the mask of an access can be computed again.
bool canBuildLanes(StridedTracker &tracker,
                   const analysis::MemoryAccess &access,
                   ImplicitLocOpBuilder &b);

/// Calls `body` with a builder, with the row-major places of some lanes of a
/// tile, and with the first of them: i32, or null for 0. `atOnce` lanes in each
/// turn of a loop over the tile.
void forPlaces(StridedTracker &tracker, int64_t numLanes, int64_t atOnce,
               ImplicitLocOpBuilder &b,
               llvm::function_ref<void(LaneBuilder &, Value, Value)> body);

/// Calls `body` for the lanes of an access by pointers: `atOnce` in each turn
/// of a loop, or all of them where they cannot be computed again.
void forLanes(StridedTracker &tracker, const analysis::MemoryAccess &access,
              int64_t atOnce, ImplicitLocOpBuilder &b,
              llvm::function_ref<void(const SomeLanes &)> body);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_LANEBUILDER_H
