// SPDX-License-Identifier: Apache-2.0
//
// From what is known of the operands of an operation to what is known of its
// result: the parts of AxisInfoAnalysis, and arithmetic on what is known along
// one dimension.

#ifndef TRITON_EXT_ANALYSIS_AXISTRANSFER_H
#define TRITON_EXT_ANALYSIS_AXISTRANSFER_H

#include "analysis/AxisInfo.h"

namespace mlir::triton_ext::analysis {

/// Of the one result of an operation of arith, of ranges and ids of programs;
/// of what transferCast() knows, too. Nothing if the operation is none that is
/// known.
std::optional<AxisInfo> transferArithmetic(Operation *op,
                                           ArrayRef<AxisInfo> operands,
                                           Overflow overflow);

/// Of the one result of a cast of integers or pointers or of tt.addptr, which
/// casts its offsets; nothing if the operation is none that is known.
std::optional<AxisInfo> transferCast(Operation *op, ArrayRef<AxisInfo> operands,
                                     Overflow overflow);

/// Of the one result of an operation that moves elements; nothing if the
/// operation is none that is known.
std::optional<AxisInfo> transferShape(Operation *op, const AxisInfo &operand);

/// Of an operation of arith on two numbers; nothing if it has no result.
std::optional<APInt> foldIntegers(Operation *op, const APInt &a,
                                  const APInt &b);

/// Bits of an element; 64 of indices and pointers.
unsigned widthOf(Type type);

/// The bytes of what a pointer, or an element of a tensor of them, points to; 0
/// of other types.
int64_t bytesOfPointee(Type type);

/// Integers of this width as they are read by an operation.
struct Reading {
  unsigned width;
  bool isSigned;
  Overflow overflow;

  /// The largest groups in which the values grow by the stride value as
  /// numbers, rather than modulo 2 to the width.
  Axis withoutWrap(const Axis &axis) const;
};

/// Whether numbers of this width that are not negative cannot grow like that:
/// they wrap in each group.
bool wrapsForSure(const Axis &axis, unsigned width);

/// The largest groups of which none crosses a multiple of `length`, a power of
/// two.
Axis cutToStretches(Axis axis, int64_t length);

/// A group that grows by `strideValue`, as far as that is a number of `width`
/// bits.
Axis growing(int64_t divisibility, int64_t stride, int64_t strideValue,
             unsigned width);

/// Sums and differences, in groups of one size.
Axis addAxes(const Axis &a, const Axis &b, bool subtract, unsigned width);

/// Products; the factors are what is known of a and b in groups of one size,
/// and their values, where they are known and the same everywhere.
Axis multiply(const Axis &a, const std::optional<APInt> &constantA,
              const Axis &b, const std::optional<APInt> &constantB,
              unsigned width);

/// Division by a number more than 0. `isFloor`: the quotient is rounded down,
/// be it because nothing that is divided is negative.
Axis divide(const Axis &axis, int64_t divisor, bool isFloor, bool isSigned,
            unsigned width);

/// The remainder of such a division.
Axis remainder(const Axis &axis, int64_t divisor, bool isFloor);

/// The bits that are in the mask.
Axis maskBits(const Axis &axis, const APInt &mask);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_AXISTRANSFER_H
