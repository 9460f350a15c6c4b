// SPDX-License-Identifier: Apache-2.0
//
// How the lanes of a value reach the operations that have an effect.

#ifndef TRITON_EXT_SANITIZER_FLOW_H
#define TRITON_EXT_SANITIZER_FLOW_H

#include "Condition.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

#include <deque>
#include <vector>

namespace mlir::triton_ext::sanitizer {

/// Returns, for each dimension of `result`, the dimension of the operand with
/// the same positions: the element at i of the result is computed only from
/// elements at i of the operand. The dimension is -1 if elements at other
/// positions take part, or if the operand has no such dimension. Returns
/// nullopt if it is not known how the operation computes its results.
std::optional<DimMap> dimsThrough(OpOperand &use, OpResult result);

/// A mask that decides whether an operand influences the result of its
/// operation, and the value of the mask for which it does.
struct Gate {
  Value mask;
  bool isOpen;
};

/// Returns the gate of an operand; nullopt if the operand always influences the
/// result.
std::optional<Gate> gateOf(OpOperand &use);

/// An operand of an operation with an effect, or of a branch.
struct Sink {
  StringRef kind; ///< store, atomic, branch, assert
  Value mask;     ///< of the lanes that have the effect; null if all have it
};

/// Returns the effect that the operation has with the operand; nullopt if the
/// operation only computes or prints.
std::optional<Sink> sinkOf(OpOperand &use);

/// Follows some lanes of a value to the sinks that they reach.
class Flow {
public:
  /// A value on the way. `dims` says for each of its dimensions which one it is
  /// of the source; `when` are conditions in the source's tile without which
  /// the lane has no influence on this value. `facts` are those of the source
  /// that still speak of the same values: what a loop computes anew in each
  /// turn is another value in the next one.
  struct Step {
    Value value;
    DimMap dims;
    Conditions when, facts;
    Operation *mixed = nullptr;    ///< the first operation that mixed lanes
    SmallVector<unsigned, 2> from; ///< steps before this one
  };

  /// A sink, and the step whose value it takes. The conditions of its mask are
  /// added to those of the step.
  struct Reach {
    unsigned step;
    OpOperand *use;
    Sink sink;
    Conditions when;
  };

  /// Follows the lanes of `source` that have all of `facts`. A way on which
  /// the conditions contradict the facts is not followed.
  Flow(Value source, ArrayRef<Condition> facts);

  ArrayRef<Reach> reaches() const { return found; }
  const Step &step(unsigned i) const { return steps[i]; }
  /// An operation that takes the lanes and has no rule, so that its results are
  /// unknown; null if there is none.
  Operation *unknown() const { return unknownUser; }
  /// Returns the values on the paths to the given sinks.
  DenseSet<Value> waysTo(ArrayRef<const Reach *> sinks) const;

private:
  void follow(unsigned from, OpOperand &use);
  void arrive(unsigned from, Step step);
  void leave(unsigned from, scf::ForOp loop, unsigned index);

  std::deque<Step> steps;
  DenseMap<Value, SmallVector<unsigned, 2>> stepsOf;
  SmallVector<unsigned> worklist;
  std::vector<Reach> found;
  Operation *unknownUser = nullptr;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_FLOW_H
