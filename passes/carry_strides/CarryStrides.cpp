// SPDX-License-Identifier: Apache-2.0
//
// Makes loops carry the base, the offset and the strides of a strided tensor in
// place of the tensor, or the scalar to which a tensor is added that does not
// change, and the tensor of offsets that does. Each loop is rewritten in a
// copy, which replaces it if the tensors still have this form where the next
// iteration begins. Tensors of which this cannot be shown are left untouched.

#include "Branches.h"
#include "Forms.h"
#include "LoopOperands.h"
#include "Slots.h"
#include "StridedNumbers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::carry_strides {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CARRYSTRIDESPASS
#include "CarryStrides.h.inc"
} // namespace mlir::triton_ext::carry_strides

using namespace mlir;
using namespace mlir::triton_ext::carry_strides;

namespace {

/// A tensor among the operands of the loop, the condition or the yield.
struct Tensor {
  unsigned index;
  Form form;
};

/// Rewrites one loop in a copy.
class Trial {
public:
  Trial(Operation *loop, unsigned &budget) : loop(loop), budget(budget) {}

  /// The carried tensors, and for `while` those behind the condition. A run
  /// that fails changes the form of some, and removes those that have none.
  SmallVector<Tensor> heads, tails;

  /// Returns whether the copy has replaced the loop.
  bool run();

private:
  bool trackAll(SmallVector<Tensor> &tensors, Operation *end, unsigned first,
                bool begins, SmallVector<SmallVector<Value>> &found);
  void rebuildIn(ArrayRef<Tensor> tensors, Block *block, unsigned first,
                 MutableArrayRef<Slot> slots);
  bool rewrite(ArrayRef<SmallVector<Value>> inits);
  void commit();

  Operation *loop, *copy = nullptr;
  unsigned &budget;
  SmallVector<Slot> headSlots, tailSlots;
};

} // namespace

static void carry(Operation *loop, unsigned &budget);

/// Rewrites the loops and branches in a region, but not those in loops.
static void carryIn(Region &region, unsigned &budget) {
  SmallVector<Operation *> ops;
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isLoop(op) && !isa<scf::IfOp>(op))
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : ops) {
    if (isLoop(op)) {
      carry(op, budget);
      continue;
    }
    for (Region &arm : op->getRegions())
      carryIn(arm, budget);
    yieldNumbers(cast<scf::IfOp>(op));
  }
}

/// Finds the numbers of operands of an operation. Gives those tensors another
/// form that do not have theirs, or removes them, and returns whether there
/// were none. If the tensors begin here, finds the rest of those that have one.
bool Trial::trackAll(SmallVector<Tensor> &tensors, Operation *end,
                     unsigned first, bool begins,
                     SmallVector<SmallVector<Value>> &found) {
  OpBuilder b(end);
  SmallVector<Tensor> kept;
  bool all = true;
  for (Tensor &tensor : tensors) {
    Form &form = tensor.form;
    Value value = end->getOperand(first + tensor.index);
    std::optional<SmallVector<Value>> numbers;
    if (!begins ||
        findRest(value, form, &(copy ? copy : loop)->getRegion(0), b))
      numbers = findNumbers(value, form, b);
    if (numbers)
      found.push_back(std::move(*numbers));
    all &= numbers.has_value();
    if (numbers || toNextForm(form, value, b))
      kept.push_back(tensor);
  }
  tensors = std::move(kept);
  return all;
}

/// Replaces tensors that are arguments of a block by tensors that are made from
/// its other arguments.
void Trial::rebuildIn(ArrayRef<Tensor> tensors, Block *block, unsigned first,
                      MutableArrayRef<Slot> slots) {
  OpBuilder b = OpBuilder::atBlockBegin(block);
  for (const Tensor &tensor : tensors) {
    BlockArgument argument = block->getArgument(first + tensor.index);
    SmallVector<Value> numbers;
    for (const Slot &slot : slots.take_front(countNumbers(tensor.form)))
      numbers.push_back(slot.argument);
    slots = slots.drop_front(numbers.size());
    argument.replaceAllUsesWith(
        rebuild(tensor.form, numbers, b, argument.getLoc()));
  }
}

bool Trial::rewrite(ArrayRef<SmallVector<Value>> inits) {
  bool isFor = isa<scf::ForOp>(copy);
  Block *head = &copy->getRegion(0).front();
  headSlots = makeSlots(inits, head);
  rebuildIn(heads, head, /*first=*/isFor, headSlots);
  carryIn(copy->getRegion(0), budget);
  Operation *end = head->getTerminator();
  if (!isFor) {
    // Operand 0 is the condition.
    SmallVector<SmallVector<Value>> passed;
    if (!trackAll(tails, end, /*first=*/1, /*begins=*/true, passed))
      return false;
    Block *tail = &copy->getRegion(1).front();
    tailSlots = makeSlots(passed, tail);
    for (const Slot &slot : tailSlots)
      end->insertOperands(end->getNumOperands(), slot.from);
    rebuildIn(tails, tail, /*first=*/0, tailSlots);
    carryIn(copy->getRegion(1), budget);
    end = tail->getTerminator();
  }
  SmallVector<SmallVector<Value>> next;
  if (!trackAll(heads, end, /*first=*/0, /*begins=*/false, next))
    return false;
  auto *slot = headSlots.begin();
  for (const SmallVector<Value> &numbers : next)
    for (Value number : numbers)
      (slot++)->next = number;
  return true;
}

/// Replaces the loop by the copy.
void Trial::commit() {
  bool isFor = isa<scf::ForOp>(copy);
  OpBuilder b(copy);
  b.setInsertionPointAfter(copy);
  SmallVector<Value> results(
      copy->getResults().take_front(loop->getNumResults()));
  auto &slots = isFor ? headSlots : tailSlots;
  ValueRange numbers = copy->getResults().take_back(slots.size());
  for (const Tensor &tensor : isFor ? heads : tails) {
    unsigned count = countNumbers(tensor.form);
    if (!loop->getResult(tensor.index).use_empty())
      results[tensor.index] =
          rebuild(tensor.form, numbers.take_front(count), b, copy->getLoc());
    numbers = numbers.drop_front(count);
  }
  dropInvariants(copy, headSlots, tailSlots);
  Operation *end = copy->getRegions().back().front().getTerminator();
  unsigned first = isFor ? 3 : 0;
  // The tensors are not used any more.
  for (const Tensor &tensor : heads)
    end->setOperand(tensor.index, copy->getOperand(first + tensor.index));
  for (const Slot &slot : headSlots)
    end->insertOperands(end->getNumOperands(), slot.next);
  loop->replaceAllUsesWith(results);
  loop->erase();
}

bool Trial::run() {
  OpBuilder b(loop);
  // An earlier trial has erased its copy.
  copy = nullptr;
  headSlots.clear();
  tailSlots.clear();
  bool isFor = isa<scf::ForOp>(loop);
  unsigned first = isFor ? 3 : 0;
  SmallVector<SmallVector<Value>> inits;
  if (!trackAll(heads, loop, first, /*begins=*/true, inits))
    return false;
  SmallVector<Value> numbers;
  SmallVector<Type> resultTypes;
  for (const SmallVector<Value> &init : inits)
    llvm::append_range(numbers, init);
  for (const Tensor &tensor : isFor ? heads : tails)
    llvm::append_range(resultTypes, numberTypes(tensor.form));
  copy = extendLoop(b.clone(*loop), numbers, resultTypes);
  if (rewrite(inits)) {
    commit();
    return true;
  }
  copy->erase();
  return false;
}

static SmallVector<Tensor> getTensors(ValueRange values) {
  SmallVector<Tensor> tensors;
  for (auto [i, value] : llvm::enumerate(values))
    if (isCarriable(value.getType()))
      tensors.push_back(
          {unsigned(i), {cast<RankedTensorType>(value.getType())}});
  return tensors;
}

/// Rewrites a loop and those in it. An outer loop comes first, because what an
/// inner loop begins with is strided only if the outer one carries strides.
static void carry(Operation *loop, unsigned &budget) {
  Trial trial(loop, budget);
  if (auto whileLoop = dyn_cast<scf::WhileOp>(loop)) {
    trial.heads = getTensors(whileLoop.getInits());
    trial.tails = getTensors(whileLoop.getConditionOp().getArgs());
  } else {
    trial.heads = getTensors(cast<scf::ForOp>(loop).getInits());
  }
  while (!trial.heads.empty() && budget) {
    --budget;
    if (trial.run())
      return;
  }
  for (Region &region : loop->getRegions())
    carryIn(region, budget);
}

namespace {
struct CarryStridesPass
    : triton_ext::carry_strides::impl::CarryStridesPassBase<CarryStridesPass> {
  using CarryStridesPassBase::CarryStridesPassBase;

  void runOnOperation() override {
    // A tensor may try five forms, at each level of nesting anew. 200 trials
    // are far more than the loops of a kernel need.
    unsigned budget = 200;
    for (Region &region : getOperation()->getRegions())
      carryIn(region, budget);
  }
};
} // namespace
