// SPDX-License-Identifier: Apache-2.0
//
// Moves an operation that takes a part of a loop's result into the loop, which
// then carries the part. The carried tensor goes if nothing else needs it.

#include "Moves.h"

#include "linalg_ext/MapElementwise.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::extract_like_move_backward;

bool mlir::triton_ext::extract_like_move_backward::dependsOnInputsOnly(
    linalg::MapOp map) {
  Block *body = map.getBody();
  // The last arguments are the previous elements of the output.
  ArrayRef<BlockArgument> outputs =
      body->getArguments().drop_front(map.getNumDpsInputs());
  return map->getNumResults() == 1 &&
         llvm::all_of(body->without_terminator(),
                      [](Operation &op) { return isPure(&op); }) &&
         body->getOps<linalg::IndexOp>().empty() &&
         llvm::all_of(outputs,
                      [](BlockArgument output) { return output.use_empty(); });
}

static bool isElementwise(Operation *op) {
  if (auto map = dyn_cast<linalg::MapOp>(op))
    return dependsOnInputsOnly(map);
  return linalg_ext::isElementwiseOnTensors(op) && isPure(op);
}

/// Returns whether only elementwise operations use the carried tensor, and only
/// this tensor's next value is used of their results.
static bool feedsItselfOnly(scf::ForOp loop, unsigned number) {
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  SmallVector<Value> reached{loop.getRegionIterArg(number)};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!reached.empty())
    for (OpOperand &use : reached.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (user == yield && use.getOperandNumber() == number)
        continue;
      if (user->getBlock() != body || !isElementwise(user))
        return false;
      if (seen.insert(user).second)
        reached.push_back(user->getResult(0));
    }
  return true;
}

/// Takes from `tensor` the part that `op` takes from another one. A slice keeps
/// all dimensions, as do the slices that are moved.
static Operation *takeFrom(OpBuilder &builder, Operation *op, Value tensor) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return tensor::ExtractSliceOp::create(
        builder, op->getLoc(), tensor, slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
  Operation *copy = builder.clone(*op);
  copy->setOperand(0, tensor);
  return copy;
}

bool CarriedParts::isNeeded(OpResult tensor, Operation *op,
                            ArrayRef<Part> without) {
  return llvm::any_of(tensor.getUses(), [&](OpOperand &use) {
    return use.getOwner() != op && llvm::none_of(without, [&](Part part) {
             return use.getOwner() == part.loop &&
                    use.getOperandNumber() ==
                        part.loop.getNumControlOperands() + part.tensor;
           });
  });
}

Value CarriedParts::carry(Operation *op, SmallVector<Operation *> &made) {
  auto result = dyn_cast<OpResult>(op->getOperand(0));
  auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp();
  if (!loop || isNeeded(result, op, parts))
    return {};
  unsigned number = result.getResultNumber();
  DominanceInfo dominance(loop->getParentOp());
  bool isKnownBefore =
      llvm::all_of(op->getOperands().drop_front(), [&](Value operand) {
        return dominance.properlyDominates(operand, loop);
      });
  if (!isKnownBefore || !feedsItselfOnly(loop, number))
    return {};
  IRRewriter rewriter(loop);
  Operation *init = takeFrom(rewriter, op, loop.getInitArgs()[number]);
  made.push_back(init);
  auto yielded = [&](OpBuilder &builder, Location,
                     ArrayRef<BlockArgument>) -> SmallVector<Value> {
    Operation *yield = loop.getBody()->getTerminator();
    Operation *next = takeFrom(builder, op, yield->getOperand(number));
    made.push_back(next);
    return {next->getResult(0)};
  };
  // The body moves to a new loop; `op` takes its part of that loop's result.
  auto carried = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init->getResult(0), /*replaceInitOperandUsesInLoop=*/false,
      yielded));
  parts.push_back(
      {carried, number, unsigned(carried.getNumResults() - 1), init});
  // The loop of another part may have been replaced.
  for (Part &part : parts)
    if (part.loop == loop)
      part.loop = carried;
  Value part = carried.getResults().back();
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  OpBuilder builder(op);
  return slice ? dropDims(builder, slice, part) : part;
}

Value CarriedParts::find(Operation *op) const {
  auto tensor = dyn_cast<BlockArgument>(op->getOperand(0));
  for (Part part : parts)
    if (tensor == part.loop.getRegionIterArg(part.tensor) &&
        op->getName() == part.like->getName() &&
        op->getAttrDictionary() == part.like->getAttrDictionary() &&
        op->getResultTypes() == part.like->getResultTypes() &&
        op->getOperands().drop_front() == part.like->getOperands().drop_front())
      return part.loop.getRegionIterArg(part.part);
  return {};
}

void CarriedParts::release() {
  // A loop whose tensor a later loop carries on comes after that loop.
  SmallVector<Part> released;
  for (Part part : parts) {
    auto tensor = cast<OpResult>(part.loop.getResult(part.tensor));
    if (isNeeded(tensor, /*op=*/nullptr, released) ||
        !feedsItselfOnly(part.loop, part.tensor))
      continue;
    part.loop.getBody()->getTerminator()->setOperand(
        part.tensor, part.loop.getRegionIterArg(part.tensor));
    released.push_back(part);
  }
}
