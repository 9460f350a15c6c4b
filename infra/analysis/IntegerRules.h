// SPDX-License-Identifier: Apache-2.0
//
// One rule for each operation: from facts of its operands to a fact of its
// result. IntegerFacts applies the rules along the definitions of a value,
// AxisInfoAnalysis along each dimension of a tensor. The operands of an
// operation on tensors stand for their elements.

#ifndef TRITON_EXT_ANALYSIS_INTEGERRULES_H
#define TRITON_EXT_ANALYSIS_INTEGERRULES_H

#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/APInt.h"

namespace mlir::triton_ext::analysis {

/// Divisors are powers of two, at most 2^62, the greatest that an int64_t
/// holds. Zero, which every integer divides, has this divisor.
inline constexpr unsigned maxDivisorLog2 = 62;
inline constexpr int64_t maxDivisor = int64_t(1) << maxDivisorLog2;

/// Returns the greatest power of two that divides `number`, at most maxDivisor.
int64_t divisorOf(int64_t number);
int64_t divisorOf(const APInt &number);

/// Returns what divides a product, if `a` and `b` divide its factors.
int64_t multiplyDivisors(int64_t a, int64_t b);

/// Whether there may be a rule for `op`. Where there is none, it is in vain to
/// ask for facts of the operands.
bool hasRule(Operation *op);

/// Returns a power of two that divides the one result of `op`, if
/// `divisors[i]` divides operand i; 1 if there is no rule for `op`. `rhs` is
/// the second operand, if it is known.
///
/// The rules hold modulo 2^width: 2^width is a multiple of every divisor of at
/// most 2^width, and of a number of `width` bits a larger divisor means that it
/// is 0. Powers of two alone have this property, and of two of them one divides
/// the other, so that the divisor of a sum is the smaller one.
int64_t divisorOf(Operation *op, ArrayRef<int64_t> divisors,
                  const std::optional<APInt> &rhs);

/// Returns the range of `result`, an integer, an index or a tensor of these, if
/// the operands are in `ranges`. The ranges of operands that are not integers
/// have 0 bits. If `neverWraps`, `result` is taken to be the signed number that
/// it is in arithmetic without a width.
ConstantIntRanges rangeOf(OpResult result, ArrayRef<ConstantIntRanges> ranges,
                          bool neverWraps = false);

/// Returns the range of all integers of the type of `value`, of its elements if
/// it is a tensor; of 0 bits if they are not integers.
ConstantIntRanges fullRange(Value value);

/// Returns what is in both ranges. Where that is nothing, the value is never
/// computed, and the result is `a`: an interval that ends before it starts is
/// nothing that rules expect.
ConstantIntRanges meet(const ConstantIntRanges &a, const ConstantIntRanges &b);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_INTEGERRULES_H
