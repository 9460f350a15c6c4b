// SPDX-License-Identifier: Apache-2.0
//
// Branches and loops of scf and cf. They pass on scalars as SSA values; each
// tensor that they pass on is in scratch memory.

#include "FunctionLowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// Returns new scratch memory for a tensor of the type of `tensor`.
Buffer FunctionLowering::allocate(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return scratch.allocate(loweredType(type), type.getShape());
}

/// Records where the results of an scf operation are now: its tensors are in
/// the buffers `tensors`, its scalars are the results of the lowered operation.
void FunctionLowering::setResults(Operation *op, ResultRange lowered,
                                  ArrayRef<Buffer> tensors) {
  int scalar = 0, tensor = 0;
  for (Value result : op->getResults()) {
    if (isTensor(result))
      context.buffers[result] = tensors[tensor++];
    else
      context.scalars[result] = lowered[scalar++];
  }
}

void FunctionLowering::lowerBranch(Operation &op) {
  b.setLoc(op.getLoc());
  context.current = &op;
  auto operands = [&](OperandRange values) {
    SmallVector<Value> result;
    for (Value value : values)
      result.push_back(context.scalars.lookup(value));
    return result;
  };
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](triton::ReturnOp op) {
        if (op->getNumOperands())
          context.error(
              op, "a kernel that returns a value is not supported on the CPU");
        else
          LLVM::ReturnOp::create(b, ValueRange());
      })
      .Case([&](cf::BranchOp branch) {
        LLVM::BrOp::create(b, operands(branch.getDestOperands()),
                           blocks[branch.getDest()]);
      })
      .Case([&](cf::CondBranchOp branch) {
        LLVM::CondBrOp::create(b, context.scalars.lookup(branch.getCondition()),
                               blocks[branch.getTrueDest()],
                               operands(branch.getTrueDestOperands()),
                               blocks[branch.getFalseDest()],
                               operands(branch.getFalseDestOperands()));
      })
      .Default([&](Operation *op) {
        context.error(op, "not supported on the CPU");
      });
}

void FunctionLowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> inits;
  SmallVector<Buffer> targets;
  for (auto [init, argument] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs())) {
    if (!isTensor(init)) {
      inits.push_back(context.scalars.lookup(init));
      continue;
    }
    Buffer buffer = allocate(init);
    targets.push_back(buffer);
    tiles.materialize(init, buffer);
    context.buffers[argument] = buffer;
  }
  bool hasTiles = products.beginTilesFor(op);
  SmallVector<triton::DotOp> waiting = products.beginWaiting(op);
  if (!waiting.empty())
    inits.push_back(b.constant(b.getI64Type(), 0));
  auto loop = scf::ForOp::create(b, context.scalars.lookup(op.getLowerBound()),
                                 context.scalars.lookup(op.getUpperBound()),
                                 context.scalars.lookup(op.getStep()), inits);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  context.scalars[op.getInductionVar()] = loop.getInductionVar();
  int next = 0;
  for (Value argument : op.getRegionIterArgs())
    if (!isTensor(argument))
      context.scalars[argument] = loop.getRegionIterArg(next++);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = loop.getBody();
    bool hasYield = !body->empty();
    b.setInsertionPointToStart(body);
    if (!waiting.empty())
      products.setIteration(waiting, loop.getRegionIterArgs().back());
    lowerBlock(*op.getBody());
    if (context.hasFailed())
      return;
    SmallVector<Value> values = tiles.assign(
        cast<scf::YieldOp>(op.getBody()->getTerminator()).getOperands(),
        targets);
    if (!waiting.empty())
      values.push_back(arith::AddIOp::create(b, loop.getRegionIterArgs().back(),
                                             b.constant(b.getI64Type(), 1)));
    if (!hasYield)
      scf::YieldOp::create(b, values);
  }
  if (!waiting.empty())
    products.multiplyRest(waiting, loop.getResults().back());
  if (hasTiles)
    products.endTiles();
  setResults(op, loop.getResults(), targets);
}

void FunctionLowering::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  SmallVector<Buffer> targets;
  for (Value result : op.getResults()) {
    if (isTensor(result))
      targets.push_back(allocate(result));
    else
      types.push_back(loweredType(result.getType()));
  }
  auto branch =
      scf::IfOp::create(b, types, context.scalars.lookup(op.getCondition()),
                        /*addThenBlock=*/true, /*addElseBlock=*/
                        op.elseBlock() != nullptr);
  auto lower = [&](Block *from, Block *to) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    lowerBlock(*from);
    if (context.hasFailed())
      return;
    SmallVector<Value> values = tiles.assign(
        cast<scf::YieldOp>(from->getTerminator()).getOperands(), targets);
    if (to->empty() || !to->back().hasTrait<OpTrait::IsTerminator>())
      scf::YieldOp::create(b, values);
  };
  lower(op.thenBlock(), branch.thenBlock());
  if (op.elseBlock() && !context.hasFailed())
    lower(op.elseBlock(), branch.elseBlock());
  setResults(op, branch.getResults(), targets);
}

void FunctionLowering::lowerWhile(scf::WhileOp op) {
  SmallVector<Value> inits;
  SmallVector<Type> types;
  SmallVector<Buffer> before, after;
  for (auto [init, argument] :
       llvm::zip(op.getInits(), op.getBeforeArguments())) {
    if (isTensor(init)) {
      before.push_back(context.buffers[argument] = allocate(argument));
      tiles.materialize(init, before.back());
    } else {
      inits.push_back(context.scalars.lookup(init));
    }
  }
  for (Value argument : op.getAfterArguments()) {
    if (isTensor(argument))
      after.push_back(context.buffers[argument] = allocate(argument));
    else
      types.push_back(loweredType(argument.getType()));
  }
  auto loop = scf::WhileOp::create(b, types, inits);
  auto region = [&](Region &from, Region &to, ArrayRef<Type> arguments) {
    Block *block = b.createBlock(&to);
    for (Type type : arguments)
      block->addArgument(type, op.getLoc());
    int next = 0;
    for (Value argument : from.getArguments())
      if (!isTensor(argument))
        context.scalars[argument] = block->getArgument(next++);
    b.setInsertionPointToStart(block);
    lowerBlock(from.front());
  };
  {
    OpBuilder::InsertionGuard guard(b);
    region(op.getBefore(), loop.getBefore(),
           llvm::to_vector(ValueRange(inits).getTypes()));
    if (context.hasFailed())
      return;
    auto condition = op.getConditionOp();
    SmallVector<Value> values = tiles.assign(condition.getArgs(), after);
    scf::ConditionOp::create(
        b, context.scalars.lookup(condition.getCondition()), values);
    region(op.getAfter(), loop.getAfter(), types);
    if (context.hasFailed())
      return;
    scf::YieldOp::create(b,
                         tiles.assign(op.getYieldOp().getOperands(), before));
  }
  setResults(op, loop.getResults(), after);
}
