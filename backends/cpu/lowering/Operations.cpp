// SPDX-License-Identifier: Apache-2.0

#include "Operations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

bool mlir::triton_ext::cpu::isSmallReduce(triton::ReduceOp op) {
  // A small reduction emits the code of its operands once for each element.
  // Four copies are about as much code as the loop of a root.
  constexpr int64_t mostElements = 4;
  auto type = op.getInputTypes()[0];
  return type.getRank() > 1 && type.getDimSize(op.getAxis()) <= mostElements;
}

bool mlir::triton_ext::cpu::isRoot(Operation *op) {
  if (auto reduce = dyn_cast<triton::ReduceOp>(op))
    return !isSmallReduce(reduce);
  return isa<triton::ScanOp, triton::DotOp, triton::HistogramOp,
             triton::AtomicRMWOp, triton::AtomicCASOp, triton::AtomicLoadOp,
             triton::AtomicPollOp, triton::MapElementwiseOp, scf::ForOp,
             scf::IfOp, scf::WhileOp>(op);
}

int64_t mlir::triton_ext::cpu::pointeeBytes(Type type) {
  auto pointer = cast<triton::PointerType>(getElementTypeOrSelf(type));
  Type pointee = pointer.getPointeeType();
  if (isa<triton::PointerType>(pointee))
    return 8;
  return std::max<int64_t>(1, pointee.getIntOrFloatBitWidth() / 8);
}

bool mlir::triton_ext::cpu::isVolatile(triton::LoadOp load) {
  // A cache modifier does not make a load volatile. Triton's own passes move
  // loads with one, since "cache policies [...] have no memory-ordering
  // semantics".
  return load.getIsVolatile();
}

bool mlir::triton_ext::cpu::isBarrier(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "ttg.barrier" || name == "ttg.local_barrier" ||
         name == "gpu.barrier";
}

Value mlir::triton_ext::cpu::scratchOfInstrumentation(triton::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module->hasAttr("triton_ext_cpu.profile_scratch"))
    return {};
  return kernel.getArguments().back();
}

bool mlir::triton_ext::cpu::isOfInstrumentation(Value address, Value scratch) {
  SmallVector<Value> todo{address};
  while (scratch && !todo.empty()) {
    Value value = todo.pop_back_val();
    if (value == scratch)
      return true;
    Operation *op = value.getDefiningOp();
    if (auto offset = dyn_cast_or_null<triton::AddPtrOp>(op))
      todo.push_back(offset.getPtr());
    else if (auto load = dyn_cast_or_null<triton::LoadOp>(op))
      todo.push_back(load.getPtr());
    else if (isa_and_nonnull<triton::IntToPtrOp, triton::BitcastOp,
                             triton::SplatOp, triton::BroadcastOp,
                             triton::ExpandDimsOp, arith::AddIOp>(op))
      llvm::append_range(todo, op->getOperands());
  }
  return false;
}

/// Returns whether `op` only writes memory of `isOfInstrumentation`, and orders
/// no other accesses.
static bool writesForInstrumentation(Operation *op, Value scratch) {
  if (auto store = dyn_cast<triton::StoreOp>(op))
    return isOfInstrumentation(store.getPtr(), scratch);
  auto atomic = dyn_cast<triton::AtomicRMWOp>(op);
  return atomic && atomic.getSem() == triton::MemSemantic::RELAXED &&
         isOfInstrumentation(atomic.getPtr(), scratch);
}

bool mlir::triton_ext::cpu::blocksLoads(Operation *op, Value scratch) {
  return op
      ->walk([&](Operation *inner) {
        if (writesForInstrumentation(inner, scratch))
          return WalkResult::advance();
        if (isa<triton::StoreOp, triton::AtomicRMWOp, triton::AtomicCASOp,
                triton::AtomicLoadOp, triton::AtomicStoreOp,
                triton::AtomicPollOp, triton::CallOp>(inner) ||
            isBarrier(inner))
          return WalkResult::interrupt();
        // A volatile load may read a flag that announces data. A load that
        // stands before it must not move behind it, where it could read data
        // that is newer than the flag.
        if (auto load = dyn_cast<triton::LoadOp>(inner);
            load && isVolatile(load))
          return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

bool mlir::triton_ext::cpu::mayWait(triton::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        auto load = dyn_cast<triton::LoadOp>(op);
        bool readsAgain =
            isa<triton::AtomicRMWOp, triton::AtomicCASOp, triton::AtomicLoadOp>(
                op) ||
            (load && isVolatile(load));
        if (isa<triton::AtomicPollOp>(op) ||
            (readsAgain && op->getParentOfType<scf::WhileOp>()))
          return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}
