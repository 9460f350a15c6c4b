// SPDX-License-Identifier: Apache-2.0
//
// Lowers calls of functions of the target's library, and assertions, which
// become cf.assert.

#include "Lowering.h"

#include "Arrays.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

//===----------------------------------------------------------------------===//
// Functions of the target's library
//===----------------------------------------------------------------------===//

/// Declares the function in the module, unless it is there.
static LogicalResult declare(Operation *op, StringRef name, FunctionType type,
                             RewriterBase &rewriter) {
  auto module = op->getParentOfType<ModuleOp>();
  if (Operation *present = module.lookupSymbol(name)) {
    auto function = dyn_cast<func::FuncOp>(present);
    if (function && function.getFunctionType() == type)
      return success();
    return op->emitError() << "'" << name << "' is called as a function of "
                           << "type " << type
                           << ", but is something else already";
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  auto function = func::FuncOp::create(rewriter, op->getLoc(), name, type);
  function.setPrivate();
  return success();
}

static SmallVector<Type> elementTypes(ValueRange values) {
  return llvm::to_vector(llvm::map_range(
      values, [](Value value) { return getElementTypeOrSelf(value); }));
}

namespace {

struct ScalarCallPattern : OpRewritePattern<linalg_ext::ScalarLibdeviceCallOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg_ext::ScalarLibdeviceCallOp op,
                                PatternRewriter &rewriter) const override {
    auto type =
        rewriter.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    if (failed(declare(op, op.getSymbol(), type, rewriter)))
      return failure();
    rewriter.replaceOpWithNewOp<func::CallOp>(
        op, op.getSymbol(), op->getResultTypes(), op.getInputs());
    return success();
  }
};

struct CallPattern : OpRewritePattern<linalg_ext::LibdeviceCallOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg_ext::LibdeviceCallOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
      return failure();
    Type result = getElementTypeOrSelf(op.getInit());
    auto type = rewriter.getFunctionType(elementTypes(op.getInputs()), result);
    if (failed(declare(op, op.getSymbol(), type, rewriter)))
      return failure();
    Values mapped(llvm::make_filter_range(op.getInputs(), [](Value value) {
      return isa<RankedTensorType>(value.getType());
    }));
    auto map = linalg::MapOp::create(
        rewriter, op.getLoc(), mapped, op.getInit(),
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          Values operands(op.getInputs());
          for (Value &operand : operands) {
            if (!isa<RankedTensorType>(operand.getType()))
              continue;
            operand = arguments.front();
            arguments = arguments.drop_front();
          }
          auto call = func::CallOp::create(builder, loc, op.getSymbol(), result,
                                           operands);
          linalg::YieldOp::create(builder, loc, call.getResults());
        });
    rewriter.replaceOp(op, map->getResults());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

struct ScalarAssertPattern : OpRewritePattern<linalg_ext::ScalarAssertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg_ext::ScalarAssertOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<cf::AssertOp>(op, op.getCondition(),
                                              op.getMsg());
    return success();
  }
};

/// Lowers an assertion on an array to one on the conjunction of its elements.
struct AssertPattern : OpRewritePattern<linalg_ext::AssertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg_ext::AssertOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value init =
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    Values all = loopNest(
        rewriter, loc, sizesOf(rewriter, loc, op.getCondition()), init,
        [&](OpBuilder &builder, Location loc, ValueRange indices,
            ValueRange values) -> Values {
          Value element = toCondition(
              builder, loc, loadFrom(builder, loc, op.getCondition(), indices));
          return {arith::AndIOp::create(builder, loc, values[0], element)};
        });
    cf::AssertOp::create(rewriter, loc, all[0], op.getMsg());
    rewriter.replaceOp(op, op.getResult() ? ValueRange(op.getCondition())
                                          : ValueRange());
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateCallPatterns(
    RewritePatternSet &patterns) {
  patterns
      .add<AssertPattern, CallPattern, ScalarAssertPattern, ScalarCallPattern>(
          patterns.getContext());
}
