// SPDX-License-Identifier: Apache-2.0
//
// Prefetches of the memory that a later store of the same tile writes.
//
// A prefetch never faults and changes no value, so it ignores the mask of the
// store.

#include "StorePrefetch.h"

#include "Operations.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns whether the operation is cheap, and safe to do anywhere: a division
/// is not, because an assertion may stand in front of it.
static bool isOfAddress(Operation *op) {
  return isa_and_nonnull<triton::AddPtrOp, triton::SplatOp, triton::BroadcastOp,
                         triton::ExpandDimsOp, triton::MakeRangeOp,
                         arith::ConstantOp, arith::AddIOp, arith::SubIOp,
                         arith::MulIOp, arith::ExtSIOp, arith::ExtUIOp,
                         arith::TruncIOp>(op);
}

/// Moves the operation that defines `value`, and those of `block` that it
/// needs, up to directly behind their operands.
static void hoist(Value value, Block *block, DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!isOfAddress(op) || op->getBlock() != block || !seen.insert(op).second)
    return;
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    hoist(operand, block, seen);
    Operation *def = operand.getDefiningOp();
    if (def && def->getBlock() == block &&
        (!last || last->isBeforeInBlock(def)))
      last = def;
  }
  if (isa<RankedTensorType>(value.getType()))
    return;
  if (last)
    op->moveAfter(last);
  else
    op->moveBefore(block, block->begin());
}

void mlir::triton_ext::cpu::hoistAddressesOfStores(triton::FuncOp function) {
  function.walk([](triton::StoreOp store) {
    DenseSet<Operation *> seen;
    if (isa<RankedTensorType>(store.getPtr().getType()))
      hoist(store.getPtr(), store->getBlock(), seen);
  });
}

/// The most bytes of a tile. Lines of a larger one may leave the second-level
/// cache before the store writes them.
static constexpr int64_t mostBytes = 256 << 10;

StorePrefetch::StorePrefetch(LoweringContext &context, Plan &plan,
                             Evaluator &evaluator, Operation *root,
                             ValueRange tensors, int dim)
    : context(context), plan(plan), evaluator(evaluator) {
  auto shape = cast<RankedTensorType>(tensors[0].getType()).getShape();
  if (!leavesMemoryIdle(root, tensors))
    return;
  for (Operation *op = root->getNextNode(); op; op = op->getNextNode()) {
    // Between here and the store, a loop may need the cache for itself.
    if (op->getNumRegions() && !isa<triton::ReduceOp>(op))
      return;
    auto candidate = dyn_cast<triton::StoreOp>(op);
    if (!candidate)
      continue;
    Value ptr = candidate.getPtr(), value = candidate.getValue();
    auto type = dyn_cast<RankedTensorType>(ptr.getType());
    if (type && type.getShape() == shape &&
        type.getNumElements() * pointeeBytes(type) <= mostBytes &&
        plan.contiguousDim(ptr, {value}) == dim && isReady(ptr))
      store = candidate;
    return;
  }
}

/// Returns whether a reduction in front of `root` has read the same elements,
/// so that they are in a cache.
bool StorePrefetch::wasRead(triton::LoadOp load, Operation *root) const {
  return llvm::any_of(plan.uses(load.getResult()), [&](const RootUse &use) {
    return isa<triton::ReduceOp>(use.root) &&
           use.root->getBlock() == root->getBlock() &&
           use.root->isBeforeInBlock(root);
  });
}

/// Returns whether the memory has little to do while `root` computes the
/// tensors: one of them is a function such as exp of something, computed where
/// it is needed, or all that is loaded for them was read before.
bool StorePrefetch::leavesMemoryIdle(Operation *root,
                                     ValueRange tensors) const {
  bool readsAgain = false, readsFirst = false;
  SmallVector<Value> pending(tensors);
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) ||
        context.buffers.contains(value) || !seen.insert(value).second)
      continue;
    if (kindOf(op) == OperationKind::Function)
      return true;
    if (auto load = dyn_cast<triton::LoadOp>(op))
      (wasRead(load, root) ? readsAgain : readsFirst) = true;
    else
      llvm::append_range(pending, op->getOperands());
  }
  return readsAgain && !readsFirst;
}

/// Returns whether the address needs only scalars that have been emitted.
bool StorePrefetch::isReady(Value address) const {
  SmallVector<Value> pending = {address};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second || context.buffers.contains(value))
      continue;
    if (!isa<RankedTensorType>(value.getType())) {
      if (!context.scalars.contains(value))
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!isOfAddress(op) || plan.isStored(value))
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

void StorePrefetch::emit(const Coords &coords) {
  if (!store)
    return;
  LaneBuilder &b = context.b;
  int64_t bytes = pointeeBytes(store.getPtr().getType());
  // Lanes of half a line would prefetch each line twice, which costs more than
  // it gains. On AMD's Zen 4, softmax of rows of 3,000 bf16 took a tenth longer
  // with prefetches; of rows of 3,000 floats, 15 % less.
  constexpr int64_t lineBytes = 64;
  if (b.lanes() * bytes < lineBytes)
    return;
  Lanes ptr = evaluator.eval(store.getPtr(), coords);
  if (!ptr.isPattern() || !isContiguous(ptr.pattern, bytes))
    return;
  Value address =
      b.offset(ptr.base, b.constant(b.getI64Type(), ptr.pattern[0]));
  LLVM::Prefetch::create(b, address, /*rw=*/1, /*hint=*/3, /*cache=*/1);
}
