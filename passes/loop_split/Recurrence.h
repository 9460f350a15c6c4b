// SPDX-License-Identifier: Apache-2.0
//
// How the scalars of an `scf.for` depend on its induction variable: which are
// the same in all iterations, which are affine recurrences, and in which range
// they are. Analyses; changes nothing.

#ifndef TRITON_EXT_LOOP_SPLIT_RECURRENCE_H
#define TRITON_EXT_LOOP_SPLIT_RECURRENCE_H

#include "Known.h"
#include "analysis/IntegerFacts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/APInt.h"

namespace mlir::triton_ext::loop_split {

/// Returns the bits of an integer type; `index` has 64. 0 for any other type.
unsigned bitWidth(Type type);

/// Extends `value` to `wideBits`.
APInt wide(const APInt &value, bool isUnsigned);

/// Returns the least and the greatest number of `width` bits, in `wideBits`.
std::pair<APInt, APInt> limits(unsigned width, bool isUnsigned);

/// A scalar of a loop. If it is affine, there is an invariant number c such
/// that in every iteration, modulo 2^width, the scalar is `slope * iv + c`,
/// where iv is the loop's induction variable. The slope has `wideBits`.
struct Recurrence {
  /// The scalar read as signed or unsigned. If `exact`, the equation holds for
  /// these numbers, too, not only modulo 2^width, and they are in [low, high].
  /// Example: of an i8 that is 100 + iv for iv in [0, 50], the equation holds
  /// modulo 2^8; as unsigned numbers it is exact, but not as signed ones, which
  /// are -128 for an iv of 28.
  struct View {
    bool exact = false;
    APInt low, high;

    /// Adopts the interval if it is one of numbers of `width` bits: then
    /// nothing wraps. Or if `flag` (nsw or nuw) says so: then a number outside
    /// of the type is poison, and the interval is cut to the type.
    void set(APInt newLow, APInt newHigh, unsigned width, bool isUnsigned,
             bool flag = false);
  };

  bool affine = false;
  APInt slope = APInt::getZero(wideBits);
  View views[2]; // signed, unsigned

  /// Makes exact in one view what is exact in the other, if all its numbers
  /// read the same in both: those from 0 to the greatest signed one.
  void complete(unsigned width);
};

class RecurrenceAnalysis {
public:
  explicit RecurrenceAnalysis(scf::ForOp loop) : loop(loop) {}

  /// Whether `value` is the same in all iterations and can be computed before
  /// the loop.
  bool isInvariant(Value value) { return isInvariant(value, maxDepth); }

  /// Returns how `value` changes from iteration to iteration. If `trustsFlags`,
  /// operations with the flags nsw and nuw are taken not to wrap.
  Recurrence get(Value value, bool trustsFlags) {
    return get(value, trustsFlags, maxDepth);
  }

private:
  /// How far back values are followed, a bound of the stack that recursion
  /// takes; loops that are unrolled have chains of some hundred sums. What has
  /// been found is kept, so that each value is visited once.
  static constexpr unsigned maxDepth = 500;

  bool isInvariant(Value value, unsigned depth);
  Recurrence get(Value value, bool trustsFlags, unsigned depth);
  Recurrence compute(Value value, bool trustsFlags, unsigned depth);

  scf::ForOp loop;
  analysis::IntegerFacts facts;
  llvm::DenseMap<Operation *, bool> invariant;
  llvm::DenseMap<Value, Recurrence> recurrences[2]; // without and with flags
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_RECURRENCE_H
