// SPDX-License-Identifier: Apache-2.0
//
// Computes, in front of an `scf.for`, in how many of its first iterations a
// condition has not changed, and splits the loop there. All of it is right for
// every value of bounds and step for which the loop is defined.

#ifndef TRITON_EXT_LOOP_SPLIT_TRIPCOUNTER_H
#define TRITON_EXT_LOOP_SPLIT_TRIPCOUNTER_H

#include "Condition.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::triton_ext::loop_split {

/// Which of the two places where a mask changes: where it ceases to be what it
/// is for all elements in the beginning, or where it becomes the opposite for
/// all elements. For a scalar they are the same.
enum class Side { Lead, Tail };

class TripCounter : private OpBuilder::Listener {
public:
  TripCounter(scf::ForOp loop, ConditionAnalysis &analysis);
  /// Erases what was emitted and is not used.
  ~TripCounter() override;

  /// The number of iterations up to that place. With `Side::Lead`, the
  /// condition is its leading value in all of them. With `Side::Tail`, it is
  /// the opposite in all others.
  Value countUpTo(const Condition &condition, Side side);

  /// `count`, or, if less than `least` iterations would be those in which the
  /// condition is known, the number that leaves none of them.
  Value orNone(Value count, Side side, uint32_t least);

  bool isZero(Value count) const;
  bool isAll(Value count) const;

  /// What the induction variable is after `count` iterations; the upper bound
  /// if these are all.
  Value placeOf(Value count);

  /// What the induction variable is there, computed as one would by hand: with
  /// `no-wrap`, from bounds that are multiples of the step. Null for others.
  Value placeWithoutWrap(const Condition &condition, Side side);

  /// Makes `loop` end after `count` iterations, or at `place` if that is not
  /// null, and returns a copy that does the others. `mapping` leads from the
  /// one to the other. If `secondDoesAll`, the copy is right for all iterations
  /// and may do more of them.
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
  Value atFirstIteration(const Form &form);
  Value leading(Value value, Value limit, const APInt &gap, Value stride,
                bool increasing, bool strict, bool isUnsigned);
  std::pair<Value, Value> middle(Value count);
  Value after(Value count);
  bool isAligned() const;
  void speculate(Operation *op);
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    emitted.push_back(op);
    speculate(op);
  }

  scf::ForOp loop;
  ConditionAnalysis &analysis;
  ImplicitLocOpBuilder b;
  SmallVector<Operation *> emitted;
  llvm::DenseMap<Attribute, Value> numbers;
  Type type; // the loop's, or i64 for index, and of the next five
  Value lower, upper, step, divisor, trips;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_TRIPCOUNTER_H
