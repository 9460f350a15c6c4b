// SPDX-License-Identifier: Apache-2.0
//
// What holds for every input of an integer, or of all elements of a tensor of
// integers: a power of two that divides it, and its range, signed and unsigned.
// A question is answered from the definitions of the value, at any time.
//
// MLIR and Triton have analyses of ranges, divisors and contiguity, too. The
// ranges of single operations are MLIR's (InferIntRangeInterface). Its
// IntegerRangeAnalysis and Triton's AxisInfo do not serve here, because they
// are solvers over a function that is finished: they cannot be asked of values
// while a lowering makes them, or between two changes of a pass, nor be told
// what a client knows of an argument; and IntegerRangeAnalysis has no rule for
// the operations of Triton. Triton's AxisInfo also takes integers of any width
// not to wrap: of an i8 whose lanes are contiguous, modulo 2^8, it says the
// same after an extension to i32, where 127 is followed by -128. AxisInfo.h,
// which knows of single dimensions, has rules of its own for that.

#ifndef TRITON_EXT_ANALYSIS_INTEGERFACTS_H
#define TRITON_EXT_ANALYSIS_INTEGERFACTS_H

#include "analysis/IntegerRules.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::triton_ext::analysis {

/// Facts of integers of which the overflow flags (nsw, nuw) hold: a value that
/// is poison may be any number. Nothing is kept from one question to the next,
/// so that the IR may change between them.
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

  /// Returns a power of two that divides `value`, at most maxDivisor. Of
  /// arguments of functions, tt.divisibility is believed.
  int64_t divisor(Value value) const;
  /// Returns the range of `value`; of 0 bits if it is not an integer.
  ConstantIntRanges range(Value value) const;
  /// Returns the greatest number that `value`, read as signed, can be; nullopt
  /// if it may be negative, or is not an integer of two bits or more.
  std::optional<APInt> limit(Value value) const;
  /// Returns the promised room of `value`; 0 if nothing was promised.
  int64_t room(Value value) const;

protected:
  using RangeFn = llvm::function_ref<ConstantIntRanges(Value)>;

  /// Whether a client takes the sum, difference or product `op` not to wrap as
  /// a signed number.
  virtual bool neverWraps(Operation * /*op*/) const { return false; }
  /// A rule of a client: returns a range of `value`, which is in `known`.
  /// `range` answers for the values that it is computed of.
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
