// SPDX-License-Identifier: Apache-2.0
//
// Finds the pointer arguments that a kernel may store through, so that the
// launcher refuses read-only memory for these and accepts it for the others.
// Analyses the kernel before it is lowered, and changes nothing.

#include "Operations.h"

#include "analysis/MemoryAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::cpu;

namespace {
/// The values that may hold the address, or a part of it.
struct Follower {
  DenseSet<Value> derived;
  SmallVector<Value> todo;
  /// The memory that the launcher passes for passes that instrument kernels, or
  /// null.
  Value scratch;

  void add(Value value) {
    // A bit, such as the result of a comparison, does not hold an address.
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

/// Adds the values to which `use` may pass the address on. Returns false if the
/// use may store through it.
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
  std::optional<MemoryAccess> access = memoryAccessOf(op);
  if (access && access->kind != MemoryAccess::Kind::Load && access->pointer &&
      isOfInstrumentation(access->pointer, scratch)) {
    addAll(op->getResults());
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
/// If this returns false, the kernel does not store through the argument. The
/// reason: every operation that the address reaches is known only to read or to
/// have no effect, so only its results can hold the address. Any other
/// operation counts as a store. Storing the pointer itself counts as one, too:
/// after `tl.store(table, x)`, the kernel may load the pointer from the table
/// and store through it. The exceptions are a kernel that assembles an address
/// from single bits, which `Follower::add` ignores, and the records of checks,
/// which hold addresses that nothing loads.
bool mlir::triton_ext::cpu::mayStoreThrough(BlockArgument argument,
                                            Value scratch) {
  Follower follower;
  follower.scratch = scratch;
  follower.add(argument);
  while (!follower.todo.empty())
    for (OpOperand &use : follower.todo.pop_back_val().getUses())
      if (!follower.follow(use))
        return true;
  return false;
}
