// SPDX-License-Identifier: Apache-2.0
//
// The decisions that are made before any code is emitted: which tensors are
// stored in scratch memory, and along which dimension the lanes of a group lie.

#ifndef TRITON_EXT_CPU_PLAN_H
#define TRITON_EXT_CPU_PLAN_H

#include "Costs.h"
#include "Strides.h"
#include "Views.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::cpu {

/// A root for which a tensor is computed, as seen from that tensor.
struct RootUse {
  Operation *root;
  /// The coordinates at which the root needs the tensor.
  ViewId view;
  /// Whether each element of the tensor is computed several times, because a
  /// broadcast lies between the tensor and the root.
  bool isReplicated;
};

class Plan {
public:
  Plan(triton::FuncOp func, Limits limits);

  /// Returns whether `tensor` is stored in scratch memory where it is defined.
  /// This does not include the results of roots, which are always stored.
  bool isStored(Value tensor) const { return stored.contains(tensor); }

  /// Returns the roots that need `tensor`.
  ArrayRef<RootUse> uses(Value tensor) const;

  /// Returns whether the root needs the tensor at the coordinates at which it
  /// writes, as in `c[i] = f(a[i])`.
  bool isInPlace(const RootUse &use) const {
    return views.isRoot(use.view, use.root);
  }

  /// Returns the best dimension for the lanes of `tensor`: the one along which
  /// most of the pointers in the expressions of `tensor`, and of `others` of
  /// the same shape, are contiguous.
  int contiguousDim(Value tensor, ArrayRef<Value> others = {});

  /// Returns whether neighbours along `dim` are probably one element apart.
  bool isProbablyContiguous(Value tensor, int dim) {
    return strides.of(tensor)[dim] == 1;
  }

private:
  void visit(Value tensor);
  void addUses(Value tensor, OpOperand &use);
  bool mustStore(Value tensor);
  bool mayMove(triton::LoadOp load) const;
  Cost cost(Value tensor);

  /// Adds the votes of the expression of `value` to `votes`, which has an entry
  /// for each dimension of the tensor that is voted on. `dims` maps each
  /// dimension of `value` to a dimension of that tensor, or to -1.
  void vote(Value value, ArrayRef<int> dims, MutableArrayRef<int64_t> votes,
            DenseSet<Value> &seen);

  Limits limits;
  Views views;
  Strides strides;
  DenseSet<Value> stored;
  DenseMap<Value, SmallVector<RootUse>> useMap;
  DenseMap<Value, Cost> costs;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_PLAN_H
