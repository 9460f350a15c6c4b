// SPDX-License-Identifier: Apache-2.0
//
// Finds the comparisons inside of an `scf.for` that compare an affine
// recurrence with an invariant: their results change only once or twice while
// the loop runs. Describes them so that a client can compute in which
// iteration. Analyses; changes nothing.

#ifndef TRITON_EXT_LOOP_SPLIT_CONDITION_H
#define TRITON_EXT_LOOP_SPLIT_CONDITION_H

#include "AffineForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "triton_ext/CmpPredicate.h"

namespace mlir::triton_ext::loop_split {

/// Returns the unsigned predicate of that name.
arith::CmpIPredicate toUnsigned(arith::CmpIPredicate predicate);

/// A mask changes at two places. `Lead` is where the first element changes: up
/// to there, all elements have the value of the beginning. `Tail` is where the
/// last element changes: from there on, all elements have the opposite value.
/// For a scalar, the places are the same.
enum class Side { Lead, Tail };

/// A comparison `lhs predicate rhs` in which only lhs depends on the induction
/// variable, as an affine function.
struct Condition {
  arith::CmpIOp op;
  arith::CmpIPredicate predicate; // compares `lhs` with `rhs`
  bool swapped = false;           // whether `lhs` is the right operand of `op`
  AffineForm lhs, rhs;
  APInt slope; // |change of lhs| when the induction variable grows by one
  bool increasing = false; // its sign
  bool isUnsigned = false; // the order in which to compare
  bool exact = false;      // both are one number, and lhs does not wrap

  bool isEquality() const {
    return predicate == arith::CmpIPredicate::eq ||
           predicate == arith::CmpIPredicate::ne;
  }
  /// Whether `predicate` holds where lhs is far below rhs.
  bool holdsBelow() const;
  /// Whether the comparison gives another result where lhs equals rhs than
  /// where lhs is below rhs.
  bool changesAtEqual() const;
  /// Returns the result of the comparison in the first iterations, if it ever
  /// changes.
  bool leadingValue() const {
    return isEquality() ? predicate == arith::CmpIPredicate::ne
                        : holdsBelow() == increasing;
  }
  /// Whether its value has already changed where both sides are equal.
  bool isStrict() const {
    return isEquality() || changesAtEqual() == increasing;
  }
  /// Whether there may be iterations in which it holds for some elements only.
  bool hasTail() const { return !lhs.spread.isZero() || !rhs.spread.isZero(); }
  /// Returns the side at which all elements begin or cease to be `value`.
  Side sideOf(bool value) const {
    return hasTail() && leadingValue() != value ? Side::Tail : Side::Lead;
  }
  /// Returns whether both conditions change in the same iterations of the same
  /// loop.
  bool changesWith(const Condition &other) const {
    return isUnsigned == other.isUnsigned && isStrict() == other.isStrict() &&
           lhs == other.lhs && rhs == other.rhs;
  }
};

class ConditionAnalysis {
public:
  explicit ConditionAnalysis(scf::ForOp loop, bool noWrap = false)
      : noWrap(noWrap), loop(loop), recurrences(loop),
        forms(recurrences, noWrap) {}

  /// Whether sums and products of the kernel are taken not to wrap.
  const bool noWrap;

  /// Whether `value` is the same in all iterations and can be computed before
  /// the loop.
  bool isInvariant(Value value) { return recurrences.isInvariant(value); }

  /// Returns the condition that `op` computes. If `op` depends on the induction
  /// variable but cannot be handled, sets `reason`.
  std::optional<Condition> get(arith::CmpIOp op, StringRef &reason);

private:
  scf::ForOp loop;
  RecurrenceAnalysis recurrences;
  AffineForms forms;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_CONDITION_H
