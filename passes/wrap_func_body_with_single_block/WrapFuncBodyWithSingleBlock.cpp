// SPDX-License-Identifier: Apache-2.0
//
// Moves the body of each function that has several blocks into an
// scf.execute_region. A function of one block is left untouched.

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

#define DEBUG_TYPE "triton-ext-wrap-func-body-with-single-block"

namespace mlir::triton_ext::wrap_func_body_with_single_block {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_WRAPFUNCBODYWITHSINGLEBLOCKPASS
#include "WrapFuncBodyWithSingleBlock.h.inc"
} // namespace mlir::triton_ext::wrap_func_body_with_single_block

using namespace mlir;

/// Finds the return operations of the function itself, without those inside of
/// other operations.
static SmallVector<Operation *> getReturns(Region &body) {
  SmallVector<Operation *> returns;
  for (Block &block : body)
    if (Operation *last = block.getTerminator();
        last->hasTrait<OpTrait::ReturnLike>())
      returns.push_back(last);
  return returns;
}

static void wrapBody(FunctionOpInterface function) {
  Region &body = function.getFunctionBody();
  SmallVector<Operation *> returns = getReturns(body);
  Location loc = function.getLoc();
  Block *entry = &body.front();
  auto *outer = new Block;
  body.push_front(outer);
  for (BlockArgument argument : entry->getArguments())
    argument.replaceAllUsesWith(
        outer->addArgument(argument.getType(), argument.getLoc()));
  entry->eraseArguments(0, entry->getNumArguments());

  OpBuilder builder = OpBuilder::atBlockEnd(outer);
  auto region =
      scf::ExecuteRegionOp::create(builder, loc, function.getResultTypes());
  Region &inner = region.getRegion();
  inner.getBlocks().splice(inner.end(), body.getBlocks(),
                           std::next(body.begin()), body.end());
  Operation *last = builder.insert(returns.front()->cloneWithoutRegions());
  last->setOperands(region.getResults());
  // Bufferization accepts a single yield only, in the last block.
  Block *exit = nullptr;
  if (returns.size() > 1) {
    SmallVector<Type> types(function.getResultTypes());
    exit = builder.createBlock(&inner, inner.end(), types,
                               SmallVector<Location>(types.size(), loc));
    scf::YieldOp::create(builder, loc, exit->getArguments());
  }
  for (Operation *op : returns) {
    builder.setInsertionPoint(op);
    if (exit)
      cf::BranchOp::create(builder, op->getLoc(), exit, op->getOperands());
    else
      scf::YieldOp::create(builder, op->getLoc(), op->getOperands());
    op->erase();
  }
}

namespace {
struct WrapFuncBodyWithSingleBlockPass
    : mlir::triton_ext::wrap_func_body_with_single_block::impl::
          WrapFuncBodyWithSingleBlockPassBase<WrapFuncBodyWithSingleBlockPass> {
  using WrapFuncBodyWithSingleBlockPassBase::
      WrapFuncBodyWithSingleBlockPassBase;

  void runOnOperation() override {
    // A function that never returns has no return to end the new body with.
    getOperation().walk([](FunctionOpInterface function) {
      Region &body = function.getFunctionBody();
      if (!function.isExternal() && !body.hasOneBlock() &&
          !getReturns(body).empty())
        wrapBody(function);
    });
  }
};
} // namespace
