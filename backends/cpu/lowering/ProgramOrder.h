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
  /// The bytes that the rows of a group have in each column of the left matrix:
  /// with a K of 2048, they fill half of a cache of 2 MB.
  static constexpr int64_t bytesOfRows = 512;
  /// The same for a left operand of f32 that is loaded. A product of f32 takes
  /// so long that its rows may come from the last level of the cache, and more
  /// rows share a packed column.
  static constexpr int64_t bytesOfF32Rows = 4096;
  /// So many rows of tiles share a packed column of the right matrix also if
  /// they have more bytes: packing it takes longer than reading the left matrix
  /// from a slower cache.
  static constexpr int64_t leastRows = 4;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_PROGRAMORDER_H
