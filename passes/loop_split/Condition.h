// SPDX-License-Identifier: Apache-2.0
//
// Which comparisons inside of an `scf.for` change only once or twice while the
// loop runs, and what is needed to compute when. Analyses; changes nothing.

#ifndef TRITON_EXT_LOOP_SPLIT_CONDITION_H
#define TRITON_EXT_LOOP_SPLIT_CONDITION_H

#include "Known.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton_ext/CmpPredicate.h"
#include "llvm/ADT/APInt.h"

namespace mlir::triton_ext::loop_split {

/// Bits of an integer type; `index` has 64. 0 for any other type.
unsigned bitWidth(Type type);

/// The unsigned predicate of that name.
arith::CmpIPredicate toUnsigned(arith::CmpIPredicate predicate);

/// The elements of an integer tensor, or one integer: each is `constant` plus
/// the sum of the terms plus a number from 0 to `spread`, modulo 2^width. Terms
/// of fewer bits are sign-extended.
struct Form {
  SmallVector<std::pair<Value, APInt>> terms;
  APInt constant;
  APInt spread;

  bool operator==(const Form &other) const {
    return constant.getBitWidth() == other.constant.getBitWidth() &&
           terms == other.terms && constant == other.constant &&
           spread == other.spread;
  }
};

/// A comparison `lhs predicate rhs` in which only lhs depends on the induction
/// variable, as an affine function.
struct Condition {
  arith::CmpIOp op;
  arith::CmpIPredicate predicate; // of lhs and rhs as they are here
  bool swapped = false;           // they are rhs and lhs of `op`
  Form lhs, rhs;
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
  /// Whether it is another constant where lhs equals rhs than below.
  bool changesAtEqual() const;
  /// What it is in the first iterations, if it ever changes.
  bool leadingValue() const {
    return isEquality() ? predicate == arith::CmpIPredicate::ne
                        : holdsBelow() == increasing;
  }
  /// Whether it is no longer its leading value where both sides are equal.
  bool isStrict() const {
    return isEquality() || changesAtEqual() == increasing;
  }
  /// Whether there may be iterations in which it holds for some elements only.
  bool hasTail() const { return !lhs.spread.isZero() || !rhs.spread.isZero(); }
  /// Whether both change in the same iterations of the same loop.
  bool changesWith(const Condition &other) const {
    return isUnsigned == other.isUnsigned && isStrict() == other.isStrict() &&
           lhs == other.lhs && rhs == other.rhs;
  }
};

/// How a value runs while the induction variable `iv` does: modulo 2^width, it
/// is `slope * iv` plus something invariant.
struct Sequence {
  /// As numbers of one signedness. If `exact`, the equation above holds for the
  /// numbers, not only modulo 2^width, and they are between `low` and `high`.
  struct View {
    bool exact = false;
    APInt low, high;

    /// Adopts the interval if numbers of that many bits hold it, or if `flag`,
    /// under which a number outside of it is poison.
    void set(APInt newLow, APInt newHigh, unsigned width, bool isUnsigned,
             bool flag = false);
  };

  bool affine = false;
  APInt slope = APInt::getZero(wideBits);
  View views[2]; // signed, unsigned

  /// What is exact in one view and in the range of both is so in the other.
  void complete(unsigned width);
};

class ConditionAnalysis {
public:
  explicit ConditionAnalysis(scf::ForOp loop, bool noWrap = false)
      : noWrap(noWrap), loop(loop) {}

  /// Whether sums and products of the kernel are taken not to wrap.
  const bool noWrap;

  /// Whether `value` is the same in all iterations and can be computed before
  /// the loop.
  bool isInvariant(Value value) { return isInvariant(value, maxDepth); }

  /// The condition that `op` is. If it depends on the induction variable but
  /// cannot be handled, `reason` is why.
  std::optional<Condition> get(arith::CmpIOp op, StringRef &reason);

private:
  /// How far back values are followed.
  static constexpr unsigned maxDepth = 500;

  bool isInvariant(Value value, unsigned depth);
  Sequence sequence(Value value, unsigned depth = maxDepth);
  Sequence computeSequence(Value value, unsigned depth);
  std::optional<Form> form(Value value, unsigned depth = maxDepth);
  std::optional<Form> computeForm(Value value, unsigned depth);
  bool isExtendable(const Form &form);
  bool hasFlag(Operation *op, bool isUnsigned) const;

  scf::ForOp loop;
  /// Whether `nsw` and `nuw` are facts in the condition in question.
  bool trustsFlags = false;
  llvm::DenseMap<Operation *, bool> invariant;
  llvm::DenseMap<Value, Sequence> sequences[2]; // without and with flags
  llvm::DenseMap<Value, std::optional<Form>> forms;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_CONDITION_H
