// SPDX-License-Identifier: Apache-2.0
//
// From facts of the operands of an operation to facts of its result: the parts
// of AxisInfoAnalysis, and arithmetic on the facts along one dimension.
// Divisors, ranges and constants of results come from IntegerRules.

#ifndef TRITON_EXT_ANALYSIS_AXISTRANSFER_H
#define TRITON_EXT_ANALYSIS_AXISTRANSFER_H

#include "analysis/AxisInfo.h"

namespace mlir::triton_ext::analysis {

/// Returns the facts of the one result of an operation on integers or pointers
/// that does not move elements; nullopt if it has no rule.
std::optional<AxisInfo> transferArithmetic(Operation *op,
                                           ArrayRef<AxisInfo> operands,
                                           Overflow overflow);

/// Returns the facts of the one result of a cast of integers or pointers, or of
/// tt.addptr, which casts its offsets; nullopt for other operations.
std::optional<AxisInfo> transferCast(Operation *op, ArrayRef<AxisInfo> operands,
                                     Overflow overflow);

/// Returns the facts of the one result of an operation that moves elements;
/// nullopt for other operations.
std::optional<AxisInfo> transferShape(Operation *op, const AxisInfo &operand);

/// Returns the bits of an element; indices and pointers have 64.
unsigned widthOf(Type type);

/// Returns the bytes of the element that a pointer, or a pointer of a tensor,
/// points to; 0 for other types.
int64_t bytesOfPointee(Type type);

/// How an operation reads integers of this width.
struct Reading {
  unsigned width;
  bool isSigned;
  Overflow overflow;

  /// Returns the facts for the largest groups in which the values grow by the
  /// stride value as numbers, not only modulo 2^width.
  Axis withoutWrap(const Axis &axis) const;
};

/// Whether numbers of this width that are not negative wrap in each group: the
/// group spans more than the type.
bool wrapsForSure(const Axis &axis, unsigned width);

/// Returns the facts for the largest groups of which none crosses a multiple of
/// `length`, a power of two.
Axis cutToStretches(Axis axis, int64_t length);

/// How a result grows: the stride and the stride value of an Axis. What divides
/// the first elements of the groups is told by divisorOf() of the operation.
struct Growth {
  int64_t stride = 1;
  int64_t strideValue = 0;
};

/// Returns groups of `stride` elements that grow by `strideValue`; of single
/// elements if that is not a number of `width` bits.
Growth growBy(int64_t stride, int64_t strideValue, unsigned width);

/// Returns how sums and differences grow, of axes with groups of one size.
Growth growthOfSum(const Axis &a, const Axis &b, bool subtract, unsigned width);

/// Returns how products grow, of axes with groups of one size. The constants
/// are the factors, where they are known and the same everywhere.
Growth growthOfProduct(const Axis &a, const std::optional<APInt> &constantA,
                       const Axis &b, const std::optional<APInt> &constantB,
                       unsigned width);

/// Returns how quotients by a number more than 0 grow. `isFloor`: the quotient
/// is rounded down, be it because nothing that is divided is negative.
Growth growthOfQuotient(const Axis &axis, int64_t divisor, bool isFloor,
                        bool isSigned, unsigned width);

/// Returns how the remainders of such a division grow.
Growth growthOfRemainder(const Axis &axis, int64_t divisor, bool isFloor);

/// Returns how the bits that are in the mask grow.
Growth growthOfMasked(const Axis &axis, const APInt &mask);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_AXISTRANSFER_H
