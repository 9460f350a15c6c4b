// SPDX-License-Identifier: Apache-2.0
//
// Finds where the masked-off lanes of a load go. Analyses; changes nothing.

#include "Unfilled.h"

#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;

namespace {
/// Follows the elements of a load through operations that keep lanes apart.
/// Each value has the dimension of the load along which each of its own
/// dimensions lies; -1 for none.
class Followed {
public:
  std::set<int64_t> combined; // dimensions of the load

  void start(tt::LoadOp load) {
    SmallVector<int> dimensions;
    for (size_t i = 0; i < analysis::shapeOf(load.getResult()).size(); ++i)
      dimensions.push_back(i);
    push(load.getResult(), dimensions);
    while (!work.empty()) {
      auto [value, along] = work.pop_back_val();
      for (OpOperand &use : value.getUses())
        follow(use, along);
    }
  }

private:
  using Dimensions = SmallVector<int, 4>;

  void push(Value value, ArrayRef<int> along) {
    if (seen.insert(value).second)
      work.push_back({value, Dimensions(along)});
  }

  void combine(ArrayRef<int> along) {
    for (int dimension : along)
      if (dimension >= 0)
        combined.insert(dimension);
  }

  void follow(OpOperand &use, ArrayRef<int> along);
  void shape(Operation *op, ArrayRef<int> along);

  SmallVector<std::pair<Value, Dimensions>> work;
  llvm::DenseSet<Value> seen;
};
} // namespace

/// Follows a value through an operation that changes its shape.
void Followed::shape(Operation *op, ArrayRef<int> along) {
  Dimensions result(along);
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    result.insert(result.begin() + expand.getAxis(), -1);
  } else if (auto trans = dyn_cast<tt::TransOp>(op)) {
    for (auto [i, from] : llvm::enumerate(trans.getOrder()))
      result[i] = along[from];
  } else if (auto reshape = dyn_cast<tt::ReshapeOp>(op)) {
    auto matched =
        analysis::matchDimensions(analysis::shapeOf(reshape.getResult()),
                                  analysis::shapeOf(reshape.getSrc()));
    if (!matched || reshape.getAllowReorder())
      return;
    result.assign(analysis::shapeOf(reshape.getResult()).size(), -1);
    for (auto [from, to] : llvm::enumerate(*matched))
      if (to)
        result[*to] = along[from];
  } else if (!isa<tt::BroadcastOp>(op)) {
    return; // a value whose lanes are not followed
  }
  push(op->getResult(0), result);
}

void Followed::follow(OpOperand &use, ArrayRef<int> along) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (auto store = dyn_cast<tt::StoreOp>(op)) {
    if (number == 1 && !store.getMask())
      combine(along);
    return;
  }
  if (isa<tt::ReduceOp, tt::ScanOp>(op)) {
    int axis = isa<tt::ReduceOp>(op) ? cast<tt::ReduceOp>(op).getAxis()
                                     : cast<tt::ScanOp>(op).getAxis();
    combine(along[axis]);
    Dimensions result(along);
    if (isa<tt::ReduceOp>(op))
      result.erase(result.begin() + axis);
    for (Value one : op->getResults())
      push(one, result);
    return;
  }
  if (isa<tt::DotOp>(op)) {
    size_t rank = along.size();
    if (number < 2)
      combine(along[number == 0 ? rank - 1 : rank - 2]);
    Dimensions result(along);
    if (number < 2)
      result[number == 0 ? rank - 1 : rank - 2] = -1;
    return push(op->getResult(0), result);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (OpResult result = loop.getTiedLoopResult(&use)) {
      push(loop.getTiedLoopRegionIterArg(&use), along);
      push(result, along);
    }
    return;
  }
  if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      push(loop.getRegionIterArg(number), along);
    if (isa<scf::ForOp, scf::IfOp>(parent))
      push(parent->getResult(number), along);
    return;
  }
  // A select puts other values into lanes, as tl.where does.
  if (isa<arith::SelectOp, tt::AddPtrOp>(op) || !isMemoryEffectFree(op) ||
      op->getNumRegions() || op->getNumResults() != 1)
    return;
  if (analysis::shapeOf(op->getResult(0)) != analysis::shapeOf(use.get()) ||
      isa<tt::TransOp, tt::ReshapeOp>(op))
    return shape(op, along);
  if (op->hasTrait<OpTrait::Elementwise>())
    push(op->getResult(0), along);
}

std::set<int64_t> intensity::unfilled(tt::LoadOp load) {
  Followed followed;
  if (load.getMask() && !load.getOther())
    followed.start(load);
  return followed.combined;
}
