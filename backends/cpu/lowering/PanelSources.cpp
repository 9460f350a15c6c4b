// SPDX-License-Identifier: Apache-2.0
//
// Walks from the operand to the scalars in front of the loop. Everything in
// between has to be a function of its operands, or a load that the loop which
// packs the operand does itself.

#include "PanelSources.h"

#include "Operations.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

bool mlir::triton_ext::cpu::synchronizes(triton::FuncOp function) {
  return showsOrder(function) ||
         function
             .walk([](Operation *op) {
               bool blocks = op->getNumRegions() == 0 &&
                             !isa<triton::StoreOp>(op) && blocksLoads(op);
               return blocks ? WalkResult::interrupt() : WalkResult::advance();
             })
             .wasInterrupted();
}

/// Whether the results of the operation depend on its operands only.
static bool isFunction(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool isArithmetic = dialect == "arith" || dialect == "math";
  return isArithmetic ||
         isa<triton::SplatOp, triton::BroadcastOp, triton::ExpandDimsOp,
             triton::MakeRangeOp, triton::AddPtrOp, triton::TransOp,
             triton::ReshapeOp, triton::JoinOp, triton::SplitOp, triton::CatOp,
             triton::FpToFpOp, triton::BitcastOp, triton::IntToPtrOp,
             triton::PtrToIntOp>(op);
}

bool PanelSources::visitArgument(BlockArgument argument) {
  Block *block = argument.getOwner();
  if (block == loop.getBody()) {
    if (argument == loop.getInductionVar())
      return visit(loop.getLowerBound(), false) && visit(loop.getStep(), false);
    return visit(loop.getTiedLoopInit(argument)->get(), false) &&
           visit(loop.getTiedLoopYieldedValue(argument)->get(), false);
  }
  if (isa<RankedTensorType>(argument.getType()) ||
      loop->isProperAncestor(block->getParentOp()))
    return false;
  // Arguments of the function are the same for all programs of a launch.
  if (!block->isEntryBlock() || !isa<triton::FuncOp>(block->getParentOp()))
    key.insert(argument);
  return true;
}

bool PanelSources::visit(Value value, bool isPacked) {
  if (value.getDefiningOp<arith::ConstantOp>() ||
      !seen[isPacked].insert(value).second)
    return true;
  Type type = value.getType();
  bool isTensor = isa<RankedTensorType>(type);
  if (!isTensor && !isa<IntegerType, IndexType, triton::PointerType>(type))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return visitArgument(argument);
  Operation *op = value.getDefiningOp();
  bool isInside = loop->isProperAncestor(op);
  if (!isInside && !isTensor) {
    key.insert(value);
    return true;
  }
  if (isInside && op->getBlock() != loop.getBody())
    return false;
  isPacked &= isTensor && !plan.isStored(value);
  if (auto load = dyn_cast<triton::LoadOp>(op)) {
    // A load elsewhere may read memory that is written before the operand is
    // packed.
    if (!isInside || !isPacked)
      return false;
    loads.push_back(load);
  } else if (!isFunction(op)) {
    return false;
  }
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return visit(operand, isPacked); });
}

bool mlir::triton_ext::cpu::differsByProgram(Value value,
                                             const ProgramOrder &order) {
  SmallVector<Value> pending = {value};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    auto id = dyn_cast_or_null<triton::GetProgramIdOp>(op);
    if (id && id.getAxisAsInt() == 0)
      return true;
    // A remainder by the columns is the same for the rows of a group.
    bool isColumn = order.id &&
                    isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(op) &&
                    op->getOperand(0) == order.id;
    if (op && !isColumn && !isa<arith::DivSIOp, arith::DivUIOp>(op))
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}
