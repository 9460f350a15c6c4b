// SPDX-License-Identifier: Apache-2.0
//
// Decides along which dimension of a tensor the lanes of a group lie. Each
// access in the expression of the tensor votes for the dimension along which it
// is contiguous.

#include "Plan.h"

#include "Operations.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

// The votes that a dimension gets for each access that is contiguous along it.
// The access of the root itself counts most, since it always happens.
static constexpr int64_t votesOfAccess = 6;
/// A load in the expression may turn out to be a gather along other dimensions.
static constexpr int64_t votesOfLoad = 4;
/// Scratch memory is row-major and in a cache: a gather from it costs less.
static constexpr int64_t votesOfScratch = 2;

/// The most tensors of an expression that vote. More votes hardly change the
/// result, and visiting all tensors for each root would take quadratic time.
static constexpr unsigned mostVoters = 500;

static bool isContiguous(std::optional<int64_t> stride) {
  return stride == 1 || stride == -1;
}

void Plan::vote(Value value, ArrayRef<int> dims, MutableArrayRef<int64_t> votes,
                DenseSet<Value> &seen) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !seen.insert(value).second || seen.size() > mostVoters)
    return;
  auto add = [&](int dim, int64_t weight) {
    if (dims[dim] >= 0 && type.getDimSize(dim) > 1)
      votes[dims[dim]] += weight;
  };
  Operation *op = value.getDefiningOp();
  if (!op || isRoot(op) || stored.contains(value)) {
    for (int i = type.getRank() - 1; i >= 0; --i)
      if (type.getDimSize(i) > 1) {
        add(i, votesOfScratch);
        break;
      }
    return;
  }
  SmallVector<int> inner(dims);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](triton::LoadOp load) {
        for (auto [i, stride] : llvm::enumerate(strides.of(load.getPtr())))
          if (isContiguous(stride))
            add(i, votesOfLoad);
      })
      .Case([&](triton::ExpandDimsOp expand) {
        inner.erase(inner.begin() + expand.getAxis());
        vote(expand.getSrc(), inner, votes, seen);
      })
      .Case([&](triton::TransOp trans) {
        for (auto [i, d] : llvm::enumerate(trans.getOrder()))
          inner[d] = dims[i];
        vote(trans.getSrc(), inner, votes, seen);
      })
      .Case<triton::ReshapeOp, triton::JoinOp, triton::CatOp, triton::SplitOp,
            triton::ReduceOp, triton::SplatOp>([](auto) {
        // Their operands have dimensions of their own.
      })
      .Default([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (auto other = dyn_cast<RankedTensorType>(operand.getType());
              other && other.getRank() == type.getRank())
            vote(operand, inner, votes, seen);
      });
}

int Plan::contiguousDim(Value tensor, ArrayRef<Value> others) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> votes(type.getRank(), 0);
  SmallVector<int> dims = llvm::to_vector(llvm::seq<int>(0, type.getRank()));
  DenseSet<Value> seen;
  vote(tensor, dims, votes, seen);
  for (Value other : others)
    vote(other, dims, votes, seen);
  if (isa<triton::PointerType>(type.getElementType()))
    for (auto [i, stride] : llvm::enumerate(strides.of(tensor)))
      if (isContiguous(stride) && type.getDimSize(i) > 1)
        votes[i] += votesOfAccess;
  int best = type.getRank() - 1;
  for (int i = type.getRank() - 1; i >= 0; --i)
    if (votes[i] > votes[best])
      best = i;
  return best;
}
