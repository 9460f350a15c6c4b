// SPDX-License-Identifier: Apache-2.0
//
// Carries the two numbers of a program with regions through the control flow of
// its kernel.

#include "Regions.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

Regions::State Regions::addArguments(Block &block) {
  Type type = b.getI32Type();
  Value next = block.addArgument(type, b.getLoc());
  return {next, block.addArgument(type, b.getLoc())};
}

LogicalResult Regions::run(Operation *first) {
  State state = takeHome(first);
  for (RegionBeginOp begin : e.sites.regions) {
    b.setInsertionPoint(begin);
    b.setLoc(begin.getLoc());
    if (!begin.getHandle().use_empty())
      begins[begin] = clock.read(b, Counter::Cycles, begin.getPerWarp());
    if (begin == first && !start)
      storeStart(begins[begin], clock.read(b, Counter::Global, false));
  }
  Region &body = e.kernel.getBody();
  // Other blocks get the numbers as arguments, from each branch.
  SmallVector<State> states{state};
  for (Block &block : llvm::drop_begin(body))
    states.push_back(addArguments(block));
  for (auto [block, own] : llvm::zip(body, states)) {
    if (failed(walk(block, own)))
      return failure();
    Operation *last = block.getTerminator();
    if (auto branch = dyn_cast<BranchOpInterface>(last)) {
      for (unsigned i = 0; i < last->getNumSuccessors(); ++i)
        branch.getSuccessorOperands(i).append({own.next, own.left});
    } else if (isa<tt::ReturnOp>(last)) {
      b.setInsertionPoint(last);
      b.setLoc(last->getLoc());
      finish(last);
    }
  }
  return success();
}

/// Emits the regions in `block`; `state` becomes that of its end.
LogicalResult Regions::walk(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(walkOp(op, state)))
      return failure();
  return success();
}

LogicalResult Regions::walkOp(Operation &op, State &state) {
  if (auto ends = dyn_cast<RegionEndOp>(op)) {
    b.setInsertionPoint(ends);
    b.setLoc(ends.getLoc());
    std::optional<int64_t> offset;
    if (room)
      offset = room->loop->offsetOf(ends);
    if (offset)
      endInRoom(ends, *offset);
    else
      state = end(ends, state);
    return success();
  }
  bool hasRegions = op.walk([](Operation *inner) {
                        return isa<RegionEndOp>(inner) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
                      }).wasInterrupted();
  if (!hasRegions)
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return walkFor(loop, state);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return walkIf(branch, state);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return walkWhile(loop, state);
  return op.emitOpError()
         << "expected no probe.region_end in this operation: regions are "
            "supported in functions, scf.for, scf.if and scf.while";
}

LogicalResult Regions::walkFor(scf::ForOp op, State &state) {
  auto own = llvm::find_if(
      e.sites.loops, [&](const RegionLoop &one) { return one.loop == op; });
  SmallVector<Value> inits{state.next, state.left};
  bool hasRoom = own != e.sites.loops.end();
  if (hasRoom) {
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    if (!room) // else the home has it
      room = takeRoom(*own);
    inits.push_back(room->place);
  }
  IRRewriter rewriter(b.getContext());
  rewriter.setInsertionPoint(op);
  bool hasFailed = false;
  auto yields = [&](OpBuilder &, Location,
                    ArrayRef<BlockArgument> args) -> SmallVector<Value> {
    State inner{args[0], args[1]};
    if (hasRoom)
      room->place = args[2];
    hasFailed = failed(walk(*op.getBody(), inner));
    SmallVector<Value> values{inner.next, inner.left};
    if (hasRoom) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(op.getBody()->getTerminator());
      values.push_back(
          arith::AddIOp::create(b, room->place, i32(own->recordsOfTurn)));
    }
    return values;
  };
  auto loop = op.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yields);
  if (hasRoom)
    room.reset();
  if (failed(loop) || hasFailed)
    return failure();
  ResultRange results = (*loop)->getResults().take_back(hasRoom ? 3 : 2);
  state = {results[0], results[1]};
  return success();
}

LogicalResult Regions::walkIf(scf::IfOp op, State &state) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  SmallVector<Type> types(op.getResultTypes());
  types.append(2, state.next.getType());
  auto branch = scf::IfOp::create(b, types, op.getCondition(),
                                  /*withElseRegion=*/false);
  branch->setAttrs(op->getAttrs());
  for (auto [from, to] :
       {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
        {&op.getElseRegion(), &branch.getElseRegion()}}) {
    State inner = state;
    if (from->empty()) {
      OpBuilder::InsertionGuard guard(b);
      b.createBlock(to);
      scf::YieldOp::create(b, ValueRange{});
    } else {
      to->takeBody(*from);
      if (failed(walk(to->front(), inner)))
        return failure();
    }
    to->front().getTerminator()->insertOperands(
        op.getNumResults(), ValueRange{inner.next, inner.left});
  }
  ResultRange results = branch.getResults();
  op.replaceAllUsesWith(results.drop_back(2));
  op.erase();
  state = {results.take_back(2)[0], results.take_back(2)[1]};
  return success();
}

LogicalResult Regions::walkWhile(scf::WhileOp op, State &state) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  SmallVector<Value> inits(op.getInits());
  inits.append({state.next, state.left});
  SmallVector<Type> types(op.getResultTypes());
  types.append(2, state.next.getType());
  auto loop = scf::WhileOp::create(b, types, inits);
  loop->setAttrs(op->getAttrs());
  loop.getBefore().takeBody(op.getBefore());
  loop.getAfter().takeBody(op.getAfter());
  // scf.condition has one more operand than the loop has results.
  for (auto [region, first] :
       {std::pair(&loop.getBefore(), op.getNumResults() + 1),
        {&loop.getAfter(), op.getInits().size()}}) {
    State inner = addArguments(region->front());
    if (failed(walk(region->front(), inner)))
      return failure();
    region->front().getTerminator()->insertOperands(
        first, ValueRange{inner.next, inner.left});
  }
  ResultRange results = loop.getResults();
  op.replaceAllUsesWith(results.drop_back(2));
  op.erase();
  state = {results.take_back(2)[0], results.take_back(2)[1]};
  return success();
}
