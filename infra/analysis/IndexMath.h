// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on index or i64 values for the trackers, which return offsets and
// bounds as values. The operations are made at the builder's insertion point; a
// tracker that gives up leaves some there, unused.

#ifndef TRITON_EXT_ANALYSIS_INDEXMATH_H
#define TRITON_EXT_ANALYSIS_INDEXMATH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::triton_ext::analysis {

/// Arithmetic on values and constants of one type. It folds constants.
struct IndexMath {
  OpBuilder &builder;
  Location loc;
  /// The number of operations that may still be visited. The number of paths to
  /// a value doubles with each operation that uses the previous one twice. 1000
  /// operations are far more than the index of a kernel has.
  unsigned budget = 1000;
  /// The type of the values: index, or i64 where a target has an index of 32
  /// bits. Numbers of i64 wrap around.
  Type type = builder.getIndexType();

  /// Whether the bounds of a box are at least 0, also if the mask is false
  /// everywhere. Whoever takes an end below 0 for 0 does not need it.
  bool clampsEnds = true;

  /// Takes one operation from the budget; returns false if none was left.
  bool spend() { return budget && budget--; }
  OpFoldResult number(int64_t value) {
    return builder.getIntegerAttr(type, value);
  }
  OpFoldResult add(OpFoldResult a, OpFoldResult b);
  OpFoldResult sub(OpFoldResult a, OpFoldResult b);
  OpFoldResult mul(OpFoldResult a, OpFoldResult b);
  /// Returns the remainder of `a` by `b`, with the sign of `a`; `a` if `b` is
  /// 0.
  OpFoldResult rem(OpFoldResult a, OpFoldResult b);
  OpFoldResult min(OpFoldResult a, OpFoldResult b);
  OpFoldResult max(OpFoldResult a, OpFoldResult b);
  /// Returns one of the two values, chosen by an i1.
  OpFoldResult choose(Value condition, OpFoldResult whenTrue,
                      OpFoldResult whenFalse);
  /// Converts a signed integer of up to 64 bits.
  OpFoldResult fromInteger(Value value);
  Value toValue(OpFoldResult value);
  /// Returns whether `value`, an operand of an operation before the insertion
  /// point, can be used at the insertion point: it must not be inside of a
  /// branch or a loop that has ended.
  bool canUse(Value value) const;
  /// Returns the scalar `value` if it can be used at the insertion point. If a
  /// branch or a loop that has ended computes it from values outside of it,
  /// returns a copy at the insertion point. Returns null otherwise.
  Value reach(Value value);
};

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_INDEXMATH_H
