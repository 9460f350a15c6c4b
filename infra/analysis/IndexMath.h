// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on index values for the trackers, which say what they find as
// values: it is made at the builder's insertion point, and what is found only
// half is left there, unused.

#ifndef TRITON_EXT_ANALYSIS_INDEXMATH_H
#define TRITON_EXT_ANALYSIS_INDEXMATH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::triton_ext::analysis {

/// Arithmetic on index values and numbers; of numbers it makes numbers.
struct IndexMath {
  OpBuilder &builder;
  Location loc;
  /// How many operations may still be looked at. Where values are used several
  /// times there are as many ways to them as there are steps doubled.
  unsigned budget = 1000;

  /// Whether there was something left of the budget.
  bool spend() { return budget && budget--; }
  OpFoldResult number(int64_t value) { return builder.getIndexAttr(value); }
  OpFoldResult add(OpFoldResult a, OpFoldResult b);
  OpFoldResult sub(OpFoldResult a, OpFoldResult b);
  OpFoldResult mul(OpFoldResult a, OpFoldResult b);
  OpFoldResult min(OpFoldResult a, OpFoldResult b);
  OpFoldResult max(OpFoldResult a, OpFoldResult b);
  /// One or the other, by an i1.
  OpFoldResult choose(Value condition, OpFoldResult whenTrue,
                      OpFoldResult whenFalse);
  /// A signed integer of any width up to 64 bits.
  OpFoldResult fromInteger(Value value);
  Value toValue(OpFoldResult value);
  /// Whether a value that something before the insertion point was computed of
  /// can be used there, rather than being inside of a branch or a loop.
  bool canUse(Value value) const;
};

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_INDEXMATH_H
