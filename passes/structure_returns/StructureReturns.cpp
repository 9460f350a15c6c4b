// SPDX-License-Identifier: Apache-2.0
//
// Functions with early returns become one block of scf.if, so that they can be
// inlined anywhere: into loops, combine functions and mapped functions. What
// follows a branch that does not return moves into it. A kernel keeps its
// blocks unless a tensor is passed between them. Functions with loops of
// blocks, and those that would grow a lot, stay as they are.

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#define DEBUG_TYPE "triton-ext-structure-returns"

namespace mlir::triton_ext::structure_returns {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_STRUCTURERETURNSPASS
#include "StructureReturns.h.inc"
} // namespace mlir::triton_ext::structure_returns

using namespace mlir;

/// Returns the number of blocks if each path gets its own; more than `limit` if
/// there are too many or if blocks form a loop.
static int64_t countOfPaths(Block *block, int64_t limit, int depth = 0) {
  int64_t count = 1;
  if (depth > limit)
    return limit + 1;
  for (Block *successor : block->getSuccessors()) {
    count += countOfPaths(successor, limit - count, depth + 1);
    if (count > limit)
      break;
  }
  return count;
}

/// Clones the block and what follows it; returns what the function returns.
static SmallVector<Value> buildPath(Block *block, IRMapping map,
                                    TypeRange types, OpBuilder &b) {
  for (Operation &op : block->without_terminator())
    b.clone(op, map);
  Operation *end = block->getTerminator();
  auto follow = [&](Block *to, OperandRange operands, OpBuilder &at) {
    IRMapping inner = map;
    for (auto [argument, operand] : llvm::zip(to->getArguments(), operands))
      inner.map(argument, map.lookupOrDefault(operand));
    return buildPath(to, inner, types, at);
  };
  if (auto jump = dyn_cast<cf::BranchOp>(end))
    return follow(jump.getDest(), jump.getDestOperands(), b);
  if (auto fork = dyn_cast<cf::CondBranchOp>(end)) {
    auto branch = scf::IfOp::create(b, end->getLoc(), types,
                                    map.lookupOrDefault(fork.getCondition()),
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    auto side = [&](Block *from, Block *to, OperandRange operands) {
      // With no results, the builder has put a terminator there.
      if (!from->empty())
        from->getTerminator()->erase();
      OpBuilder at = OpBuilder::atBlockEnd(from);
      SmallVector<Value> values = follow(to, operands, at);
      scf::YieldOp::create(at, end->getLoc(), values);
    };
    side(branch.thenBlock(), fork.getTrueDest(), fork.getTrueDestOperands());
    side(branch.elseBlock(), fork.getFalseDest(), fork.getFalseDestOperands());
    return branch.getResults();
  }
  SmallVector<Value> values;
  for (Value operand : end->getOperands())
    values.push_back(map.lookupOrDefault(operand));
  return values;
}

/// Returns whether a block other than the first has a tensor as an argument.
static bool passesTensors(triton::FuncOp func) {
  return llvm::any_of(llvm::drop_begin(func.getBody()), [](Block &block) {
    return llvm::any_of(block.getArgumentTypes(),
                        [](Type type) { return isa<RankedTensorType>(type); });
  });
}

/// Makes `func` one block, if it has at most `limit` paths.
static void structure(triton::FuncOp func, int64_t limit) {
  Region &body = func.getBody();
  bool isKnown = llvm::all_of(body, [](Block &block) {
    return isa<cf::BranchOp, cf::CondBranchOp, triton::ReturnOp>(
        block.getTerminator());
  });
  if (!isKnown || countOfPaths(&body.front(), limit) > limit)
    return;
  Block *block = new Block;
  body.push_back(block);
  IRMapping map;
  for (BlockArgument argument : func.getArguments())
    map.map(argument,
            block->addArgument(argument.getType(), argument.getLoc()));
  OpBuilder b = OpBuilder::atBlockEnd(block);
  SmallVector<Value> values =
      buildPath(&body.front(), map, func.getResultTypes(), b);
  triton::ReturnOp::create(b, func.getLoc(), values);
  block->moveBefore(&body.front());
  for (Block &old : llvm::drop_begin(body))
    old.dropAllReferences();
  while (!body.hasOneBlock())
    body.back().erase();
}

namespace {
struct StructureReturnsPass
    : mlir::triton_ext::structure_returns::impl::StructureReturnsPassBase<
          StructureReturnsPass> {
  using StructureReturnsPassBase::StructureReturnsPassBase;

  void runOnOperation() override {
    for (triton::FuncOp func : getOperation().getOps<triton::FuncOp>())
      if (!func.isDeclaration() && !func.getBody().hasOneBlock() &&
          (!func.isPublic() || passesTensors(func)))
        structure(func, maxPaths);
  }
};
} // namespace
