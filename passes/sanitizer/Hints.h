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
  /// The operation that has the marks and whose result is the value, or a
  /// promise about the value.
  Operation *op;
  Value value;
  /// For each mark one number for each dimension; empty without the mark.
  SmallVector<int64_t> divisibility, contiguity, constancy;
  /// What is known of the value without the marks.
  analysis::AxisInfo facts, certain;
};

/// Checks the marks of one value.
void checkMarks(Checker &checker, const Marks &marks);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_HINTS_H
