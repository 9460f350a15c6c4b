// SPDX-License-Identifier: Apache-2.0
//
// Finds everything that some operations in a loop depend on, and copies it.

#include "LoopSlice.h"
#include "Tiles.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// Inline assembly that is marked as pure may still read a clock. Of a product
/// and a sum, the second run may round once where the first one, whose product
/// has other uses, rounds twice.
bool mlir::triton_ext::sanitizer::isRepeatable(Operation *op) {
  bool isFloat = llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  return isMemoryEffectFree(op) && !isa<tt::ElementwiseInlineAsmOp>(op) &&
         (!isFloat || op->hasTrait<OpTrait::ConstantLike>());
}

/// Adds the loops and branches between `op` and the loop, with the values that
/// decide whether and how often they run.
bool LoopSlice::needControlAround(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent != loop;
       parent = parent->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp>(parent))
      return false;
    if (!operations.insert(parent).second)
      return true;
    if (auto inner = dyn_cast<scf::ForOp>(parent))
      worklist.append(
          {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()});
    else
      worklist.push_back(cast<scf::IfOp>(parent).getCondition());
  }
  return true;
}

/// Adds an operation with its regions.
bool LoopSlice::needWhole(Operation *op) {
  if (!operations.insert(op).second)
    return true;
  llvm::append_range(worklist, op->getOperands());
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(worklist, captured);
  return needControlAround(op);
}

bool LoopSlice::need(Value value) {
  if (!values.insert(value).second)
    return true;
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return !isa<RankedTensorType>(value.getType()) ||
           matchPattern(value, m_Constant());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto owner = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!owner)
      return false;
    if (OpOperand *init = owner.getTiedLoopInit(argument)) {
      worklist.push_back(init->get());
      worklist.push_back(owner.getTiedLoopYieldedValue(argument)->get());
    }
    // The argument stands for the first operation of the body.
    return owner == loop || needControlAround(&owner.getBody()->front());
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    worklist.push_back(inner.getRegionIterArg(number));
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    worklist.push_back(branch.thenYield().getOperand(number));
    worklist.push_back(branch.elseYield().getOperand(number));
    return needControlAround(branch.thenYield());
  }
  return isRepeatable(op) && needWhole(op);
}

bool LoopSlice::needAll() {
  while (!worklist.empty())
    if (!need(worklist.pop_back_val()))
      return false;
  return true;
}

std::optional<LoopSlice>
LoopSlice::of(scf::ForOp loop, ArrayRef<scf::IfOp> wanted, Copies what) {
  LoopSlice slice(loop, what);
  for (scf::IfOp branch : wanted) {
    slice.wanted.insert(branch);
    if (what == Copies::Branches)
      slice.worklist.push_back(branch.getCondition());
    slice.operations.insert(branch);
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(branch->getRegions(), captured);
    llvm::append_range(slice.worklist, captured);
    if (!slice.needControlAround(branch))
      return std::nullopt;
  }
  if (!slice.needAll())
    return std::nullopt;
  return slice;
}

void LoopSlice::buildLoop(scf::ForOp from, OpBuilder &b,
                          IRMapping &copies) const {
  SmallVector<BlockArgument> kept;
  SmallVector<Value> inits, next;
  for (BlockArgument argument : from.getRegionIterArgs()) {
    if (!values.contains(argument))
      continue;
    kept.push_back(argument);
    Value init = from.getTiedLoopInit(argument)->get();
    inits.push_back(copies.lookupOrDefault(init));
  }
  // Leaves out the attributes of `from`, which say how to optimize it.
  auto to = scf::ForOp::create(b, from.getLoc(),
                               copies.lookupOrDefault(from.getLowerBound()),
                               copies.lookupOrDefault(from.getUpperBound()),
                               copies.lookupOrDefault(from.getStep()), inits);
  to.setUnsignedCmp(from.getUnsignedCmp());
  keepRolled(to);
  copies.map(from.getInductionVar(), to.getInductionVar());
  for (auto [i, argument] : llvm::enumerate(kept)) {
    copies.map(argument, to.getRegionIterArg(i));
    copies.map(from.getTiedLoopResult(argument), to.getResult(i));
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(to.getBody());
  buildBlock(from.getBody(), b, copies);
  if (kept.empty())
    return;
  for (BlockArgument argument : kept)
    next.push_back(
        copies.lookupOrDefault(from.getTiedLoopYieldedValue(argument)->get()));
  scf::YieldOp::create(b, from.getLoc(), next);
}

void LoopSlice::buildBranch(scf::IfOp from, OpBuilder &b,
                            IRMapping &copies) const {
  SmallVector<OpResult> kept;
  SmallVector<Type> types;
  for (OpResult result : from.getResults()) {
    if (!values.contains(result))
      continue;
    kept.push_back(result);
    types.push_back(result.getType());
  }
  auto to = scf::IfOp::create(b, from.getLoc(), types,
                              copies.lookupOrDefault(from.getCondition()),
                              bool(from.elseBlock()));
  for (auto [old, result] : llvm::zip_equal(kept, to.getResults()))
    copies.map(old, result);
  OpBuilder::InsertionGuard guard(b);
  for (auto [old, block] : {std::pair(from.thenBlock(), to.thenBlock()),
                            std::pair(from.elseBlock(), to.elseBlock())}) {
    if (!old)
      continue;
    b.setInsertionPointToStart(block);
    buildBlock(old, b, copies);
    if (kept.empty())
      continue;
    SmallVector<Value> yielded;
    for (OpResult result : kept)
      yielded.push_back(copies.lookupOrDefault(
          old->getTerminator()->getOperand(result.getResultNumber())));
    scf::YieldOp::create(b, from.getLoc(), yielded);
  }
}

void LoopSlice::buildBlock(Block *from, OpBuilder &b, IRMapping &copies) const {
  for (Operation &op : from->without_terminator()) {
    if (!operations.contains(&op))
      continue;
    auto inner = dyn_cast<scf::ForOp>(op);
    auto branch = dyn_cast<scf::IfOp>(op);
    bool isWanted = wanted.contains(&op);
    if (isWanted && what == Copies::Bodies)
      for (Operation &one : branch.thenBlock()->without_terminator())
        b.clone(one, copies);
    else if (inner)
      buildLoop(inner, b, copies);
    else if (branch && !isWanted)
      buildBranch(branch, b, copies);
    else
      b.clone(op, copies);
  }
}

void LoopSlice::build(OpBuilder &b) const {
  IRMapping copies;
  buildLoop(loop, b, copies);
}
