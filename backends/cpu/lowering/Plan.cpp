// SPDX-License-Identifier: Apache-2.0
//
// Decides which tensors are stored. Visits tensors from their uses back to
// their definitions. So the plan knows which roots need a tensor, and at how
// many coordinates, before it decides whether to store the tensor.

#include "Plan.h"

#include "Exchanges.h"
#include "Operations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

static Operation *ancestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

Plan::Plan(triton::FuncOp func, Limits limits) : limits(limits) {
  std::function<void(Block &)> visitBlock = [&](Block &block) {
    for (Operation &op : llvm::reverse(block)) {
      for (Value result : op.getResults())
        if (isa<RankedTensorType>(result.getType()))
          visit(result);
      if (isa<triton::ReduceOp, triton::ScanOp>(op))
        continue;
      for (Region &region : op.getRegions())
        for (Block &inner : llvm::reverse(region))
          visitBlock(inner);
    }
    for (Value argument : block.getArguments())
      if (isa<RankedTensorType>(argument.getType()))
        visit(argument);
  };
  for (Block &block : llvm::reverse(func.getBody()))
    visitBlock(block);
}

ArrayRef<RootUse> Plan::uses(Value tensor) const {
  auto it = useMap.find(tensor);
  return it == useMap.end() ? ArrayRef<RootUse>() : ArrayRef(it->second);
}

/// Returns how `op` computes the coordinates of its operands from its own; the
/// kind is None if they are the same.
static Rearrangement rearrangementOf(Operation *op) {
  using Kind = Rearrangement::Kind;
  Rearrangement by;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](triton::BroadcastOp op) {
        by.kind = Kind::Broadcast;
        by.type = op.getType();
      })
      .Case([&](triton::ExpandDimsOp op) {
        by.kind = Kind::ExpandDims;
        by.dims = {int32_t(op.getAxis())};
      })
      .Case([&](triton::TransOp op) {
        by.kind = Kind::Trans;
        by.dims.assign(op.getOrder().begin(), op.getOrder().end());
      })
      .Case([&](triton::ReshapeOp op) {
        by.kind = Kind::Reshape;
        by.type = op.getType();
      })
      .Case([&](triton::ReduceOp op) {
        by.kind = Kind::Reduce;
        by.dims = {int32_t(op.getAxis())};
      })
      .Case([&](UnrealizedConversionCastOp op) {
        by.kind = Kind::Exchange;
        by.dims = {exchangedDim(op).value_or(0)};
      })
      .Case<triton::JoinOp, triton::CatOp, triton::SplitOp, triton::GatherOp>(
          [&](Operation *op) {
            by.kind = Kind::Own;
            by.op = op;
          });
  return by;
}

/// Returns a number for the coordinates at which the root needs the operand of
/// `use`. Operands with the same number are needed at the same coordinates; 0
/// stands for the coordinates at which the root writes.
static unsigned slotOf(OpOperand &use) {
  Operation *root = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (isa<triton::DotOp>(root)) {
    constexpr unsigned accumulator = 2;
    return number == accumulator ? 0 : number + 1;
  }
  if (root->hasTrait<OpTrait::IsTerminator>() ||
      isa<scf::ForOp, scf::WhileOp>(root))
    return number;
  return 0;
}

void Plan::addUses(Value tensor, OpOperand &use) {
  Operation *user = use.getOwner();
  SmallVector<RootUse> found;
  bool needsOperands =
      isRoot(user) || llvm::none_of(user->getResultTypes(), [](Type type) {
        return isa<RankedTensorType>(type);
      });
  if (needsOperands) {
    found.push_back({user, views.ofRoot(user, slotOf(use)), false});
  } else {
    for (Value result : user->getResults()) {
      if (stored.contains(result))
        found.push_back({user, views.ofRoot(user), false});
      else
        llvm::append_range(found, uses(result));
    }
    Rearrangement by = rearrangementOf(user);
    if (by.kind != Rearrangement::Kind::None) {
      // A small reduction needs each of its elements.
      auto reduce = dyn_cast<triton::ReduceOp>(user);
      int64_t elements =
          reduce ? reduce.getInputTypes()[0].getDimSize(reduce.getAxis()) : 1;
      SmallVector<RootUse> outer = std::move(found);
      found.clear();
      for (by.element = 0; by.element < elements; ++by.element)
        for (RootUse inner : outer) {
          inner.view = views.rearranged(inner.view, by);
          inner.isReplicated |= by.kind == Rearrangement::Kind::Broadcast;
          found.push_back(inner);
        }
    }
  }
  SmallVector<RootUse> &all = useMap[tensor];
  for (RootUse inner : found) {
    auto known = llvm::find_if(all, [&](const RootUse &other) {
      return other.root == inner.root && other.view == inner.view;
    });
    if (known == all.end())
      all.push_back(inner);
    else
      known->isReplicated |= inner.isReplicated;
  }
}

void Plan::visit(Value tensor) {
  useMap[tensor];
  for (OpOperand &use : tensor.getUses())
    addUses(tensor, use);
  Operation *op = tensor.getDefiningOp();
  if (!op || isRoot(op))
    return;
  if (mustStore(tensor))
    stored.insert(tensor);
}

bool Plan::mustStore(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  for (Operation *user : tensor.getUsers())
    if (auto gather = dyn_cast<triton::GatherOp>(user);
        gather && gather.getSrc() == tensor)
      return true;
  if (auto load = dyn_cast<triton::LoadOp>(op); load && !mayMove(load))
    return true;
  bool isReplicated = false;
  DenseSet<ViewId> needed;
  for (const RootUse &use : uses(tensor)) {
    needed.insert(use.view);
    isReplicated |= use.isReplicated;
    Operation *top = ancestorIn(op->getBlock(), use.root);
    for (Operation *at = use.root; at && top && at != top;
         at = at->getParentOp())
      isReplicated |= isa<scf::ForOp, scf::WhileOp>(at->getParentOp());
  }
  Cost price = cost(tensor);
  return (needed.size() > 1 && price > limits.mostForTwoViews) ||
         (isReplicated && price > limits.mostForReplication);
}

/// Returns the cost of one group of lanes of `value`, including the operations
/// that are evaluated for it.
Cost Plan::cost(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op || isRoot(op) || stored.contains(value))
    return costOfScratch;
  if (auto it = costs.find(value); it != costs.end())
    return it->second;
  Cost total = costOf(kindOf(op));
  if (auto load = dyn_cast<triton::LoadOp>(op)) {
    if (Cost addresses = cost(load.getPtr()); addresses >= leastForAddresses)
      total += addresses;
  } else {
    for (Value operand : op->getOperands())
      total = std::min(mostCost, total + cost(operand));
  }
  if (auto reduce = dyn_cast<triton::ReduceOp>(op)) {
    int64_t elements = reduce.getInputTypes()[0].getDimSize(reduce.getAxis());
    total = std::min<int64_t>(mostCost, total * elements);
  }
  return costs[value] = total;
}

/// Returns the argument of the kernel that `pointer` is computed from; null if
/// that is not known.
static Value pointerRoot(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<triton::AddPtrOp, triton::SplatOp, triton::BroadcastOp,
             triton::ExpandDimsOp, triton::BitcastOp, triton::TransOp,
             triton::ReshapeOp>(op))
      return {};
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  if (isa<triton::FuncOp>(argument.getOwner()->getParentOp()))
    return pointer;
  if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      loop && argument.getArgNumber() > 0) {
    Value init = loop.getInitArgs()[argument.getArgNumber() - 1];
    Value next = loop.getYieldedValues()[argument.getArgNumber() - 1];
    while (auto add = next.getDefiningOp<triton::AddPtrOp>())
      next = add.getPtr();
    if (next == pointer)
      return pointerRoot(init);
  }
  return {};
}

/// Returns whether the load may move from where it stands to where its value is
/// needed.
///
/// No operation that blocks loads may lie in between. Moreover, a store that
/// needs the value may overwrite elements that other lanes still have to load.
/// For example, in `x[i + 1] = x[i]`, a group of lanes would load what the
/// previous group has stored. So either each lane writes to the address that it
/// has read, or the store goes through another argument of the kernel. (If
/// arguments overlap at different offsets, the kernel has a race on a GPU,
/// too.)
bool Plan::mayMove(triton::LoadOp load) const {
  if (isVolatile(load))
    return false;
  Value scratch =
      scratchOfInstrumentation(load->getParentOfType<triton::FuncOp>());
  if (isOfInstrumentation(load.getPtr(), scratch))
    scratch = {};
  Block *block = load->getBlock();
  for (const RootUse &use : uses(load.getResult())) {
    Operation *end = ancestorIn(block, use.root);
    if (!end)
      return false;
    for (Operation *op = load->getNextNode(); op != end; op = op->getNextNode())
      if (blocksLoads(op, scratch))
        return false;
    if (end != use.root) {
      if (blocksLoads(end, scratch))
        return false;
      continue;
    }
    if (auto store = dyn_cast<triton::StoreOp>(end)) {
      if (!isInPlace(use))
        return false;
      if (store.getPtr() == load.getPtr())
        continue;
      Value from = pointerRoot(load.getPtr()), to = pointerRoot(store.getPtr());
      if (!from || !to || from == to)
        return false;
    } else if (blocksLoads(end, scratch)) {
      return false;
    }
  }
  return true;
}
