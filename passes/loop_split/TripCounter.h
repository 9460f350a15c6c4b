// SPDX-License-Identifier: Apache-2.0
//
// Computes, in front of an `scf.for`, in how many of its first iterations a
// condition has not changed, and splits the loop there. What it computes is
// right for all bounds and steps for which the loop is defined.

#ifndef TRITON_EXT_LOOP_SPLIT_TRIPCOUNTER_H
#define TRITON_EXT_LOOP_SPLIT_TRIPCOUNTER_H

#include "Condition.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::triton_ext::loop_split {

/// Emits the arithmetic of one loop, in front of it.
class TripCounter : private RewriterBase::ForwardingListener {
public:
  TripCounter(RewriterBase &rewriter, scf::ForOp loop,
              ConditionAnalysis &analysis);
  /// Erases what was emitted and is not used.
  ~TripCounter() override;

  /// Returns the number of iterations up to the place. For `Side::Lead`, the
  /// condition has its leading value in all of them. For `Side::Tail`, it has
  /// the opposite value in all others.
  Value countUpTo(const Condition &condition, Side side);

  /// Returns `count` if the condition is known in at least `least` iterations
  /// then, otherwise the count for which it is known in none of them.
  Value orNone(Value count, Side side, uint32_t least);

  /// Returns in at most how many iterations the condition is known then, if
  /// that is known at compile time.
  std::optional<uint64_t> mostKnown(Value count, Side side);

  bool isZero(Value count) const;
  bool isAll(Value count) const;

  /// Returns the induction variable after `count` iterations, or the upper
  /// bound if these are all.
  Value placeOf(Value count);

  /// Returns the induction variable at the place, computed as in code split by
  /// hand. Null without `no-wrap`, and for loops whose bounds are not multiples
  /// of the step.
  Value placeWithoutWrap(const Condition &condition, Side side);

  /// Makes `loop` end after `count` iterations, or at `place` if that is not
  /// null, and returns a copy that does the others. `mapping` leads from values
  /// of the loop to those of the copy. `secondDoesAll` says that the copy is
  /// right for all iterations, and may do some of those before `count`.
  scf::ForOp split(Value count, Value place, bool secondDoesAll,
                   IRMapping &mapping);

private:
  Value number(Type type, const APInt &value);
  Value number(Type type, uint64_t value);
  Value resize(Value value, Type type);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs,
                bool isUnsigned);
  void hoist(Value value);
  Value atFirstIteration(Value value, IRMapping &mapping);
  Value atFirstIteration(const AffineForm &form);
  Value leading(Value value, Value limit, const APInt &gap, Value stride,
                bool increasing, bool strict, bool isUnsigned);
  std::pair<Value, Value> middle(Value count);
  Value after(Value count);
  bool isAligned() const;
  void speculate(Operation *op);
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    emitted.push_back(op);
    speculate(op);
    ForwardingListener::notifyOperationInserted(op, previous);
  }

  RewriterBase &rewriter;
  scf::ForOp loop;
  ConditionAnalysis &analysis;
  ImplicitLocOpBuilder b;
  SmallVector<Operation *> emitted;
  llvm::DenseMap<Attribute, Value> numbers;
  /// The type of the induction variable, or i64 for `index`; also the type of
  /// the values below.
  Type type;
  Value lower, upper, step;
  /// The step, or 1 if it is 0: a loop that does not run may have any step.
  Value divisor;
  /// The number of iterations, unsigned.
  Value trips;
};

/// Returns the greatest number of a type with `width` bits.
inline APInt greatest(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getMaxValue(width)
                    : APInt::getSignedMaxValue(width);
}

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_TRIPCOUNTER_H
