// SPDX-License-Identifier: Apache-2.0
//
// The looks at the lanes of accesses of one block.

#ifndef TRITON_EXT_SANITIZER_TILES_H
#define TRITON_EXT_SANITIZER_TILES_H

#include "Checks.h"
#include "LaneBuilder.h"

#include <functional>

namespace mlir::triton_ext::sanitizer {

/// The tile of an access to one argument, whose lanes can be computed again
/// from scalars.
struct Tile {
  Operation *op;
  Value isOut; ///< i1, at the end of the block; if false, no lane is out
  unsigned argument;
  int64_t bytes; ///< of a lane
  int64_t lanes;
  bool isScalar;
  /// Returns the addresses of the lanes with these row-major numbers, and which
  /// of them are on (null for all), as tensors or scalars.
  std::function<std::pair<Value, Value>(LaneBuilder &, ImplicitLocOpBuilder &,
                                        Value)>
      build;
};

/// Marks a loop that runs rarely, so that later compilers do not unroll it: in
/// a matrix product for sm90, the unrolled loops took 172 registers, of which
/// the kernel needs 122.
void keepRolled(Operation *loop);

/// Inserts code that looks at the lanes of all tiles, or of those that may be
/// out, and reports those that are.
void lookAtTiles(Checker &checker, StridedTracker &tracker,
                 ArrayRef<Tile> tiles, bool all, ImplicitLocOpBuilder &b);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_TILES_H
