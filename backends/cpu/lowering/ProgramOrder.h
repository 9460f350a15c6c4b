// SPDX-License-Identifier: Apache-2.0
//
// The order in which the programs of a product run.

#ifndef TRITON_EXT_CPU_PROGRAMORDER_H
#define TRITON_EXT_CPU_PROGRAMORDER_H

#include "LaneBuilder.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::cpu {

/// Returns whether the kernel may observe the order of programs.
bool showsOrder(triton::FuncOp function);

/// The order of programs of a kernel, if it differs from that of their numbers.
struct ProgramOrder {
  /// Looks for `id // columns` and `id % columns`. May move the operation that
  /// returns the number of the program.
  explicit ProgramOrder(triton::FuncOp function);

  /// Returns the program that runs as the one with `number`, of `count`.
  Value reordered(LaneBuilder &b, Value number, Value count,
                  Value columns) const;

  /// The number of the program, and the columns of tiles; null if the order is
  /// that of the numbers.
  Value id, columns;
  /// The rows of tiles in a group, at most; a power of two.
  int64_t rows = 1;

private:
  /// The rows of the left matrix in a group.
  static constexpr int64_t rowsOfGroup = 512;
  /// The same if the left operand is an f16 or f32 that is loaded. Such a
  /// product takes so long that its rows may come from the last level of the
  /// cache, and more rows share a packed column.
  static constexpr int64_t rowsOfSlowProducts = 1024;
  /// So many rows of tiles share a packed column of the right matrix also if
  /// they are more: packing it takes longer than reading the left matrix
  /// from a slower cache.
  static constexpr int64_t leastRows = 4;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_PROGRAMORDER_H
