// SPDX-License-Identifier: Apache-2.0
//
// Facts about an integer, or about all elements of a tensor of integers, that
// hold for every input: a power of two that divides it, and its signed and
// unsigned range. They are derived from the definitions of the value and can be
// asked for at any time.
//
// MLIR and Triton have analyses of ranges, divisors and contiguity, too. The
// ranges of single operations are MLIR's (InferIntRangeInterface). Its
// IntegerRangeAnalysis and Triton's AxisInfo do not serve here, because they
// are solvers over a finished function. They cannot be asked about values while
// a lowering creates them, or between two changes of a pass, and a client
// cannot tell them what it knows about an argument. IntegerRangeAnalysis also
// has no rules for Triton's operations. Triton's AxisInfo assumes that integers
// of any width do not wrap. For example, if the lanes of an i8 are contiguous
// modulo 2^8, it says that they are still contiguous after an extension to i32,
// where -128 follows 127. AxisInfo.h, which has facts about single dimensions,
// has rules of its own for that.

#ifndef TRITON_EXT_ANALYSIS_INTEGERFACTS_H
#define TRITON_EXT_ANALYSIS_INTEGERFACTS_H

#include "analysis/IntegerRules.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::triton_ext::analysis {

/// Answers questions about integers. It relies on the overflow flags (nsw,
/// nuw): its facts do not hold for poison, which may be any number. It caches
/// nothing between two questions, so the IR may change between them.
class IntegerFacts {
public:
  IntegerFacts();
  virtual ~IntegerFacts();

  /// The caller promises that the positive number `divisor` divides `value`.
  void setDivisor(Value value, int64_t divisor);
  /// The caller promises that `value` is in `range`.
  void setRange(Value value, const ConstantIntRanges &range);
  /// The caller promises that `value`, read as signed, is in [0, limit].
  void setLimit(Value value, uint64_t limit);
  /// The caller promises that `value` + k, read as signed, does not wrap around
  /// for any k in [0, room].
  void setRoom(Value value, int64_t room);

  /// Returns a power of two that divides `value`, at most maxDivisor. The
  /// attribute tt.divisibility of a function's argument is taken to hold.
  int64_t divisor(Value value) const;
  /// Returns the range of `value`; a range of 0 bits if it is not an integer.
  ConstantIntRanges range(Value value) const;
  /// Returns an upper bound of `value`, read as signed; nullopt if it may be
  /// negative, or is not an integer of two bits or more.
  std::optional<APInt> limit(Value value) const;
  /// Returns the promised room of `value`; 0 if nothing was promised.
  int64_t room(Value value) const;

protected:
  using RangeFn = llvm::function_ref<ConstantIntRanges(Value)>;

  /// Returns whether a client assumes that the sum, difference or product `op`
  /// does not wrap around as a signed number.
  virtual bool neverWraps(Operation * /*op*/) const { return false; }
  /// A rule of a client: returns a range of `value`, which is known to be in
  /// `known`. `range` returns the ranges of the operands of `value`.
  virtual ConstantIntRanges refine(Value /*value*/,
                                   const ConstantIntRanges &known,
                                   RangeFn /*range*/) const {
    return known;
  }

private:
  class Walk;

  DenseMap<Value, int64_t> divisors;
  DenseMap<Value, int64_t> rooms;
  DenseMap<Value, ConstantIntRanges> ranges;
};

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_INTEGERFACTS_H
