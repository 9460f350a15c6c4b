// SPDX-License-Identifier: Apache-2.0
//
// Stores.

#include "Roots.h"

#include "Operations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns whether computing `tensor` takes at most as many simple operations
/// as loads, and no expensive ones: then the loop waits for memory.
bool AccessLowering::isBoundByMemory(Value tensor) {
  SmallVector<Value> pending = {tensor};
  DenseSet<Value> seen;
  int loads = 0, computed = 0;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || plan.isStored(value) || isa<triton::LoadOp>(op)) {
      ++loads;
      continue;
    }
    OperationKind kind = kindOf(op);
    if (kind == OperationKind::Division || kind == OperationKind::Function)
      return false;
    if (kind != OperationKind::Free && !isa<triton::ReshapeOp>(op))
      ++computed;
    llvm::append_range(pending, op->getOperands());
  }
  return computed <= loads;
}

void AccessLowering::lower(triton::StoreOp op) {
  if (!context.isNextBeside || !context.nextPrograms.count(op.getPtr()))
    return store(op);
  // The next program's tile is prefetched in a copy of the loops, because they
  // take other vectors than loops without prefetches.
  auto check =
      scf::IfOp::create(b, context.isNextBeside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore holds(context.isNextBeside, Value());
  b.setInsertionPointToStart(check.thenBlock());
  store(op);
  llvm::SaveAndRestore none(context.nextPrograms, DenseMap<Value, int64_t>());
  b.setInsertionPointToStart(check.elseBlock());
  store(op);
}

void AccessLowering::store(triton::StoreOp op) {
  int64_t distance = context.nextPrograms.lookup(op.getPtr());
  auto write = [&](const Coords &coords) {
    Lanes ptr = evaluator.eval(op.getPtr(), coords), mask;
    if (op.getMask())
      mask = evaluator.eval(op.getMask(), coords);
    Lanes value = evaluator.eval(op.getValue(), coords);
    evaluator.prefetchNext(ptr, bytesOf(loweredType(op.getValue().getType())),
                           distance, /*condition=*/Value(), /*isStore=*/true);
    memory.store(loweredType(op.getValue().getType()), ptr, value,
                 mask ? &mask : nullptr);
  };
  auto type = dyn_cast<RankedTensorType>(op.getPtr().getType());
  if (!type)
    return evaluator.withScope(1, [&] { write({}); });
  // Measured on AMD's Zen 4 (add of 2^24 floats, one thread and two): vectors
  // of 32 bytes stream an eighth faster than vectors of 64. A vector of fewer
  // than four lanes is not worth it; elements of 16 bytes, which would lead to
  // one, do not exist. A vector that prefetches is a line.
  constexpr int64_t streamBytes = 32, leastLanes = 4;
  int64_t lanes = mostLanes;
  if (!distance && isBoundByMemory(op.getValue()))
    lanes = std::clamp<int64_t>(
        streamBytes / bytesOf(loweredType(op.getValue().getType())), leastLanes,
        mostLanes);
  SmallVector<Value> others = {op.getValue()};
  int dim = plan.contiguousDim(op.getPtr(), others);
  tiles.forTile(type.getShape(), dim, write, lanes, splits.ofStore(op, dim));
}
