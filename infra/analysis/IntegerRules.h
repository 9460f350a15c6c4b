// SPDX-License-Identifier: Apache-2.0
//
// One rule for each operation, which derives a fact about its result from facts
// about its operands. IntegerFacts applies the rules along the definitions of a
// value, AxisInfoAnalysis along each dimension of a tensor. The operands of an
// operation on tensors stand for their elements.

#ifndef TRITON_EXT_ANALYSIS_INTEGERRULES_H
#define TRITON_EXT_ANALYSIS_INTEGERRULES_H

#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/APInt.h"

namespace mlir::triton_ext::analysis {

/// Divisors are powers of two and capped at 2^62, the greatest power of two in
/// an int64_t. Zero, which every integer divides, has this divisor.
inline constexpr unsigned maxDivisorLog2 = 62;
inline constexpr int64_t maxDivisor = int64_t(1) << maxDivisorLog2;

/// Returns the greatest power of two that divides `number`, at most maxDivisor.
int64_t divisorOf(int64_t number);
int64_t divisorOf(const APInt &number);

/// Returns a divisor of a product whose factors `a` and `b` divide.
int64_t multiplyDivisors(int64_t a, int64_t b);

/// Returns whether there may be a rule for `op`. If not, the caller need not
/// compute facts about the operands.
bool hasRule(Operation *op);

/// Returns a power of two that divides the only result of `op`, if
/// `divisors[i]` divides operand i; 1 if there is no rule for `op`. `rhs` is
/// the second operand, if it is a known constant.
///
/// Claim: the rules hold modulo 2^width. Reason: a divisor of at most 2^width
/// is a power of two and so divides 2^width; a wrapped result differs from the
/// exact one by a multiple of 2^width. A larger divisor means that the number
/// is 0. Other divisors lack this property: in i8, 3 divides 129 + 129 = 258,
/// but not 258 - 256 = 2. Of two powers of two, one divides the other, so the
/// smaller one divides a sum.
int64_t divisorOf(Operation *op, ArrayRef<int64_t> divisors,
                  const std::optional<APInt> &rhs);

/// Returns the range of `result`, an integer, an index or a tensor of these, if
/// the operands are in `ranges`. The ranges of operands that are not integers
/// have 0 bits. If `neverWraps` is set, the operation is assumed not to wrap
/// around as a signed number.
ConstantIntRanges rangeOf(OpResult result, ArrayRef<ConstantIntRanges> ranges,
                          bool neverWraps = false);

/// Returns the range of all integers of the type of `value`, or of its elements
/// if it is a tensor; a range of 0 bits if they are not integers.
ConstantIntRanges fullRange(Value value);

/// Returns the intersection of both ranges. If it is empty, the value is never
/// computed and the result is `a`, because the rules do not accept empty
/// intervals.
ConstantIntRanges meet(const ConstantIntRanges &a, const ConstantIntRanges &b);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_INTEGERRULES_H
