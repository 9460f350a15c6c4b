// SPDX-License-Identifier: Apache-2.0
//
// Derives facts about the result of an operation from facts about its operands:
// the parts of AxisInfoAnalysis, and arithmetic on the facts along one
// dimension. Divisors, ranges and constants of results come from IntegerRules.

#ifndef TRITON_EXT_ANALYSIS_AXISTRANSFER_H
#define TRITON_EXT_ANALYSIS_AXISTRANSFER_H

#include "analysis/AxisInfo.h"

namespace mlir::triton_ext::analysis {

/// Returns the facts about the only result of an operation on integers or
/// pointers that does not move elements; nullopt if there is no rule for it.
std::optional<AxisInfo> transferArithmetic(Operation *op,
                                           ArrayRef<AxisInfo> operands,
                                           Overflow overflow);

/// Returns the facts about the only result of a cast of integers or pointers,
/// or of tt.addptr, which casts its offsets; nullopt for other operations.
std::optional<AxisInfo> transferCast(Operation *op, ArrayRef<AxisInfo> operands,
                                     Overflow overflow);

/// Returns the facts about the only result of an operation that moves elements;
/// nullopt for other operations.
std::optional<AxisInfo> transferShape(Operation *op, const AxisInfo &operand);

/// Returns the bits of an element; indices and pointers have 64.
unsigned widthOf(Type type);

/// Returns the bytes of the element that a pointer, or a pointer of a tensor,
/// points to; 0 for other types.
int64_t bytesOfPointee(Type type);

/// How an operation reads its operands: the width, the sign, and whether they
/// may wrap around.
struct Reading {
  unsigned width;
  bool isSigned;
  Overflow overflow;

  /// Returns the facts for the largest groups in which the values grow by the
  /// stride value as numbers, not only modulo 2^width.
  Axis withoutWrap(const Axis &axis) const;
};

/// Returns whether non-negative numbers of this width wrap around in each
/// group, because the group spans more than the type.
bool wrapsForSure(const Axis &axis, unsigned width);

/// Returns the facts for the largest groups that do not cross a multiple of
/// `length`, a power of two.
Axis cutToStretches(Axis axis, int64_t length);

/// How a result grows: the stride and the stride value of an Axis. The divisor
/// of the first elements of the groups comes from divisorOf() of the operation.
struct Growth {
  int64_t stride = 1;
  int64_t strideValue = 0;
};

/// Returns groups of `stride` elements that grow by `strideValue`; groups of
/// single elements if `strideValue` does not fit in `width` bits.
Growth growBy(int64_t stride, int64_t strideValue, unsigned width);

/// Returns how the sum or the difference of axes with groups of one size grows.
Growth growthOfSum(const Axis &a, const Axis &b, bool subtract, unsigned width);

/// Returns how the product of axes with groups of one size grows. The constants
/// are the factors that are known and the same in all elements.
Growth growthOfProduct(const Axis &a, const std::optional<APInt> &constantA,
                       const Axis &b, const std::optional<APInt> &constantB,
                       unsigned width);

/// Returns how quotients by a positive number grow. `isFloor` says that the
/// quotient is rounded down; this includes quotients of non-negative numbers.
Growth growthOfQuotient(const Axis &axis, int64_t divisor, bool isFloor,
                        bool isSigned, unsigned width);

/// Returns how the remainders of a division by a positive number grow.
Growth growthOfRemainder(const Axis &axis, int64_t divisor, bool isFloor);

/// Returns how the bitwise `and` with a constant mask grows.
Growth growthOfMasked(const Axis &axis, const APInt &mask);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_AXISTRANSFER_H
