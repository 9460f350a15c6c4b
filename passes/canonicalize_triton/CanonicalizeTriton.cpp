// SPDX-License-Identifier: Apache-2.0
//
// Brings splats, masks and tensors of pointers into one form, in which
// conversions recognise them. Scalars and stores are left untouched.

#include "MixedMasks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/CmpPredicate.h"
#include "triton_ext/Splat.h"

#define DEBUG_TYPE "triton-ext-canonicalize-triton"

namespace mlir::triton_ext::canonicalize_triton {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CANONICALIZETRITONPASS
#include "CanonicalizeTriton.h.inc"
} // namespace mlir::triton_ext::canonicalize_triton

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;

namespace {

/// op(splat a, splat b) -> splat op(a, b)
struct ScalarForSplats : RewritePattern {
  ScalarForSplats(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    bool elementwise = OpTrait::hasElementwiseMappableTraits(op) ||
                       op->hasTrait<OpTrait::Elementwise>();
    if (!elementwise || !isPure(op) || op->getNumResults() != 1 ||
        op->getNumOperands() == 0 || op->getNumRegions() != 0)
      return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    bool allSplats = llvm::all_of(op->getOperands(), [](Value operand) {
      return !isa<RankedTensorType>(operand.getType()) || isSplat(operand);
    });
    // An operation on constants only is folded elsewhere.
    bool anySplat = llvm::any_of(op->getOperands(), [](Value operand) {
      return operand.getDefiningOp<tt::SplatOp>() != nullptr;
    });
    if (!type || !allSplats || !anySplat)
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RankedTensorType>(operand.getType())
                             ? getSplat(operand, rewriter)
                             : operand);
    Operation *scalar =
        rewriter.create(OperationState(op->getLoc(), op->getName(), operands,
                                       type.getElementType(), op->getAttrs()));
    rewriter.replaceOpWithNewOp<tt::SplatOp>(op, type, scalar->getResult(0));
    return success();
  }
};

/// reshape(splat a) -> splat a, for every change of shape.
template <typename OpTy> struct ReshapedSplat : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto splat = op.getSrc().template getDefiningOp<tt::SplatOp>();
    if (!splat)
      return failure();
    rewriter.replaceOpWithNewOp<tt::SplatOp>(op, op.getType(), splat.getSrc());
    return success();
  }
};

/// reshape(addptr(p, a)) -> addptr(reshape p, reshape a), likewise.
template <typename OpTy> struct ReshapedPointers : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto add = op.getSrc().template getDefiningOp<tt::AddPtrOp>();
    if (!add)
      return failure();
    auto type = cast<RankedTensorType>(op.getType());
    auto reshape = [&](Value value) -> Value {
      auto from = cast<RankedTensorType>(value.getType());
      OperationState state(op.getLoc(), op->getName(), value,
                           type.clone(from.getElementType()), op->getAttrs());
      return rewriter.create(state)->getResult(0);
    };
    Value base = reshape(add.getPtr());
    Value offset = reshape(add.getOffset());
    rewriter.replaceOpWithNewOp<tt::AddPtrOp>(op, type, base, offset);
    return success();
  }
};

/// cmp(splat a, b) -> cmp'(b, splat a)
struct SplatOnTheRight : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::CmpIOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSplat(op.getLhs()) || isSplat(op.getRhs()))
      return failure();
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(
        op, triton_ext::swapOperands(op.getPredicate()), op.getRhs(),
        op.getLhs());
    return success();
  }
};

/// Replaces a select between masks by `and` or `or`.
struct MaskForSelect : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    Value condition = op.getCondition();
    if (!isa<RankedTensorType>(op.getType()) ||
        condition.getType() != op.getType())
      return failure();
    if (matchPattern(op.getFalseValue(), m_Zero())) {
      rewriter.replaceOpWithNewOp<arith::AndIOp>(op, condition,
                                                 op.getTrueValue());
      return success();
    }
    if (matchPattern(op.getTrueValue(), m_One())) {
      rewriter.replaceOpWithNewOp<arith::OrIOp>(op, condition,
                                                op.getFalseValue());
      return success();
    }
    return failure();
  }
};

struct CanonicalizeTritonPass
    : mlir::triton_ext::canonicalize_triton::impl::CanonicalizeTritonPassBase<
          CanonicalizeTritonPass> {
  using CanonicalizeTritonPassBase::CanonicalizeTritonPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<
        ScalarForSplats, SplatOnTheRight, MaskForSelect,
        ReshapedSplat<tt::BroadcastOp>, ReshapedSplat<tt::ExpandDimsOp>,
        ReshapedSplat<tt::ReshapeOp>, ReshapedSplat<tt::TransOp>,
        ReshapedPointers<tt::BroadcastOp>, ReshapedPointers<tt::ExpandDimsOp>,
        ReshapedPointers<tt::ReshapeOp>, ReshapedPointers<tt::TransOp>>(
        &getContext());
    // If this does not converge, the module is still valid.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
    canonicalize_triton::separateMasks(getOperation(), speculateLoads);
  }
};

} // namespace
