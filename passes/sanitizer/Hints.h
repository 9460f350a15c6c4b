// SPDX-License-Identifier: Apache-2.0
//
// The marks that tl.multiple_of, tl.max_contiguous and tl.max_constancy leave.

#ifndef TRITON_EXT_SANITIZER_HINTS_H
#define TRITON_EXT_SANITIZER_HINTS_H

#include "Checks.h"

#include "analysis/AxisInfo.h"

namespace mlir::triton_ext::sanitizer {

inline constexpr StringLiteral divisibilityName = "tt.divisibility";
inline constexpr StringLiteral contiguityName = "tt.contiguity";
inline constexpr StringLiteral constancyName = "tt.constancy";
inline constexpr StringLiteral markNames[] = {divisibilityName, contiguityName,
                                              constancyName};

/// The marks of one value.
struct Marks {
  /// Has the marks, and the value as its result, or is a promise about it.
  Operation *op;
  Value value;
  /// One number for each dimension, of each mark; empty if it is not there.
  SmallVector<int64_t> divisibility, contiguity, constancy;
  /// What is known of the value without them.
  analysis::AxisInfo facts, certain;
};

/// Checks the marks of one value.
void checkMarks(Checker &checker, const Marks &marks);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_HINTS_H
