// SPDX-License-Identifier: Apache-2.0
//
// Finds the pointer arguments of a kernel that it may store through, so that
// the launcher can refuse read-only memory for these and take it for others.
// Looks at the kernel before it is lowered, and changes nothing.

#include "Lowering.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

namespace {
/// Collects what may hold the address.
struct Follower {
  DenseSet<Value> derived;
  SmallVector<Value> todo;

  void add(Value value) {
    // A bit, such as that of a comparison, does not hold an address.
    if (!getElementTypeOrSelf(value.getType()).isInteger(1) &&
        derived.insert(value).second)
      todo.push_back(value);
  }
  void addAll(ValueRange values) {
    for (Value value : values)
      add(value);
  }
  void addRegions(Operation *op) {
    addAll(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        addAll(block.getArguments());
  }
  bool follow(OpOperand &use);
};
} // namespace

/// Adds what a use passes on; false if it may be a store.
bool Follower::follow(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (auto load = dyn_cast<triton::LoadOp>(op)) {
    if (use.get() == load.getOther())
      addAll(op->getResults());
    return true;
  }
  if (isa<triton::AtomicLoadOp, triton::AtomicPollOp, triton::PrintOp,
          triton::AssertOp, triton::ReturnOp>(op))
    return true;
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    if (auto argument = branch.getSuccessorBlockArgument(number))
      add(*argument);
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (number < loop.getNumControlOperands()) {
      add(loop.getInductionVar());
      return true;
    }
    number -= loop.getNumControlOperands();
    add(loop.getRegionIterArg(number));
    add(loop.getResult(number));
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    add(loop.getBeforeArguments()[number]);
    return true;
  }
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    auto loop = cast<scf::WhileOp>(op->getParentOp());
    add(loop.getAfterArguments()[number - 1]);
    add(loop.getResult(number - 1));
    return true;
  }
  if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      add(loop.getBeforeArguments()[number]);
      return true;
    }
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      add(loop.getRegionIterArg(number));
    add(parent->getResult(number));
    return true;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    addRegions(op->getParentOp());
  else if (op->getNumRegions())
    addRegions(op);
  else if (isMemoryEffectFree(op))
    addAll(op->getResults());
  else
    return false;
  return true;
}

/// Follows `argument` forward through everything that may be computed from it.
///
/// The answer is right if it is no, unless the kernel puts an address together
/// again from single bits, which `Follower::add` leaves out. Each operation is
/// one that is known to read only, or to have no effect, so that only its
/// results can hold the address; everything else counts as a store. So does a
/// pointer that is itself stored: `tl.store(table, x)` may be loaded again, and
/// stored through.
bool mlir::triton_ext::cpu::mayStoreThrough(BlockArgument argument) {
  Follower follower;
  follower.add(argument);
  while (!follower.todo.empty())
    for (OpOperand &use : follower.todo.pop_back_val().getUses())
      if (!follower.follow(use))
        return true;
  return false;
}
