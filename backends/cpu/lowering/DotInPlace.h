// SPDX-License-Identifier: Apache-2.0
//
// Left operands that are read where they are in memory.

#ifndef TRITON_EXT_CPU_DOTINPLACE_H
#define TRITON_EXT_CPU_DOTINPLACE_H

#include "DotUnits.h"
#include "Roots.h"

#include <memory>

namespace mlir::triton_ext::cpu {

/// The left operand of a product of f32, not packed. FMA takes one f32 of a row
/// for all lanes, so a row in memory is as good as a packed one if its elements
/// are contiguous along K and no mask is off.
class RowsInPlace : RootParts {
public:
  /// Returns how to read the left operand of the product in place, and emits
  /// the test whether that is possible; null if it never is. `slots` is the
  /// number of iterations that the product waits for.
  static std::shared_ptr<RowsInPlace> find(RootParts parts, const DotUnit &unit,
                                           triton::DotOp op, int64_t slots);

  /// Returns an i1: whether this tile can be read in place. If it is false, the
  /// tile has to be packed. Null if every tile can.
  Value test() const { return isPossible; }
  /// Emits the address of a row: the one in memory, or `packed` if the tile has
  /// to be packed.
  Value addressOf(Value row, Value packed) const;
  /// Returns where the kernel loads the operand. A fault should name this line.
  Location location() const { return line; }
  /// Emits the load of element `k` of the row at an address.
  Value load(Value address, Value k) const;
  /// Emits prefetches of what the next iteration reads of the row at an
  /// address, if packing would prefetch it, too. Each group of `step` of the
  /// result's columns prefetches a part of the row; `column` is its first one.
  void prefetchNext(Value address, Value column, int64_t columns,
                    int64_t step) const;

private:
  RowsInPlace(RootParts parts, triton::LoadOp load, const DotShape &shape);

  /// Emits the test. Returns false if the rows can never be read in place.
  bool emitTest();
  /// Emits an i1: whether the elements of a row are contiguous. Returns null if
  /// that is not worth a test.
  Value emitIsContiguous(Value row);
  /// Emits an i1: whether the mask is on for a whole row. Returns null if that
  /// is not worth a test.
  Value emitIsUnmasked(Value row);

  LaneBuilder &b;
  Value pointers, mask;
  Location line;
  int64_t M, K;
  /// The bytes to what the next iteration reads, or 0.
  int64_t distance;
  /// What `test` returns.
  Value isPossible;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_DOTINPLACE_H
