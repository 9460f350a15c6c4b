// SPDX-License-Identifier: Apache-2.0
//
// Adds on scalars the part of pointers and offsets that is the same for all
// elements of a tensor, in expressions, for choices and for values that loops
// carry. Carried pointers that are not advanced by additions are left
// untouched.

#include "Sums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#define DEBUG_TYPE "triton-ext-ptr-strength-reduction"

namespace mlir::triton_ext::ptr_strength_reduction {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_PTRSTRENGTHREDUCTIONPASS
#include "PtrStrengthReduction.h.inc"
} // namespace mlir::triton_ext::ptr_strength_reduction

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::ptr_strength_reduction;
namespace tt = mlir::triton;

namespace {

/// addptr(addptr(splat q, a), splat s) -> addptr(splat(addptr q, s), a)
struct ScalarFirst : OpRewritePattern<tt::AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tt::AddPtrOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getPtr().getDefiningOp<tt::AddPtrOp>();
    if (!inner || !isa<RankedTensorType>(op.getType()) ||
        !isUniform(op.getOffset()) || isUniform(inner.getOffset()))
      return failure();
    auto base = inner.getPtr().getDefiningOp<tt::SplatOp>();
    if (!base)
      return failure();
    Location loc = op.getLoc();
    Value scalar = base.getSrc();
    Value moved = tt::AddPtrOp::create(rewriter, loc, scalar.getType(), scalar,
                                       getScalar(op.getOffset(), rewriter));
    Value splat = tt::SplatOp::create(rewriter, loc, op.getType(), moved);
    rewriter.replaceOpWithNewOp<tt::AddPtrOp>(op, op.getType(), splat,
                                              inner.getOffset());
    return success();
  }
};

/// addptr(broadcast p, splat s) -> broadcast(addptr(p, splat s)), and the same
/// for the other operations that move elements: the sum gets closer to the
/// scalar pointer, and is done for fewer elements.
struct SumBeforeShape : OpRewritePattern<tt::AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tt::AddPtrOp op,
                                PatternRewriter &rewriter) const override {
    Operation *shape = op.getPtr().getDefiningOp();
    if (!isa_and_present<tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp,
                         tt::TransOp>(shape) ||
        !isUniform(op.getOffset()))
      return failure();
    Location loc = op.getLoc();
    Value moved = addOffset(rewriter, loc, shape->getOperand(0),
                            getScalar(op.getOffset(), rewriter));
    IRMapping operands;
    operands.map(shape->getOperand(0), moved);
    rewriter.replaceOp(op, rewriter.clone(*shape, operands));
    return success();
  }
};

/// What a loop adds to a value that it carries.
struct Carried {
  unsigned index;
  /// Operands of the additions, not the values themselves: these may be block
  /// arguments of the loop, which the rewriting replaces and destroys.
  SmallVector<OpOperand *> addends;
  /// The element type of the offset that is carried instead.
  Type element;
  bool isScalar;
};

} // namespace

/// Returns what one iteration adds to iteration argument `index`, if it only
/// adds to it and the scalar form is simpler.
static std::optional<Carried> getCarried(scf::ForOp loop, unsigned index) {
  BlockArgument argument = loop.getRegionIterArg(index);
  Type type = argument.getType(), element = getElementTypeOrSelf(type);
  bool pointer = isPointer(type);
  if (!pointer && !(isa<RankedTensorType>(type) && element.isInteger()))
    return std::nullopt;
  Carried carried{index, {}, element, true};
  Value value = loop.getYieldedValues()[index];
  while (value != argument) {
    OpOperand *addend;
    if (auto add = value.getDefiningOp<tt::AddPtrOp>()) {
      value = add.getPtr();
      addend = &add.getOffsetMutable();
    } else if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      bool left = isUniform(add.getLhs()) && !isUniform(add.getRhs());
      value = left ? add.getRhs() : add.getLhs();
      addend = left ? &add.getLhsMutable() : &add.getRhsMutable();
    } else {
      return std::nullopt;
    }
    carried.addends.push_back(addend);
    carried.isScalar &= isUniform(addend->get());
  }
  // For integers whose elements advance differently nothing gets simpler, and
  // canonicalization handles a value that is carried unchanged.
  if (carried.addends.empty() || (!pointer && !carried.isScalar))
    return std::nullopt;
  carried.element = offsetTypeOf(type);
  return carried;
}

/// Makes the loop carry the offset of each of these values.
static void rewriteLoop(scf::ForOp loop, ArrayRef<Carried> carried,
                        RewriterBase &rewriter) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits(loop.getInitArgs()), starts;
  for (const Carried &c : carried) {
    starts.push_back(inits[c.index]);
    auto tensor = dyn_cast<RankedTensorType>(inits[c.index].getType());
    Type type = c.isScalar || !tensor ? c.element : tensor.clone(c.element);
    inits[c.index] =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  }
  auto now = scf::ForOp::create(rewriter, loc, loop.getLowerBound(),
                                loop.getUpperBound(), loop.getStep(), inits,
                                /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  now->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (!now.getBody()->empty())
    rewriter.eraseOp(now.getBody()->getTerminator());
  rewriter.setInsertionPointToStart(now.getBody());
  SmallVector<Value> arguments(now.getBody()->getArguments());
  for (auto [c, start] : llvm::zip(carried, starts)) {
    Value &argument = arguments[c.index + 1];
    argument = addOffset(rewriter, loc, start, argument);
  }
  rewriter.mergeBlocks(loop.getBody(), now.getBody(), arguments);
  auto yield = cast<scf::YieldOp>(now.getBody()->getTerminator());
  rewriter.setInsertionPoint(yield);
  for (const Carried &c : carried) {
    Value sum = now.getRegionIterArg(c.index);
    for (OpOperand *addend : llvm::reverse(c.addends)) {
      Value value = addend->get();
      if (c.isScalar)
        value = getScalar(value, rewriter);
      sum = arith::AddIOp::create(rewriter, loc, sum,
                                  extend(value, c.element, rewriter));
    }
    rewriter.modifyOpInPlace(yield, [&] { yield.setOperand(c.index, sum); });
  }
  rewriter.setInsertionPointAfter(now);
  SmallVector<Value> results(now.getResults());
  for (auto [c, start] : llvm::zip(carried, starts))
    if (!loop.getResult(c.index).use_empty())
      results[c.index] = addOffset(rewriter, loc, start, results[c.index]);
  rewriter.replaceOp(loop, results);
}

namespace {
struct PtrStrengthReductionPass
    : mlir::triton_ext::ptr_strength_reduction::impl::
          PtrStrengthReductionPassBase<PtrStrengthReductionPass> {
  using PtrStrengthReductionPassBase::PtrStrengthReductionPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    chooseScalars(getOperation(), rewriter);
    SmallVector<scf::ForOp> loops;
    // Outer loops first: the initial value of an inner loop is then a sum.
    getOperation().walk<WalkOrder::PreOrder>(
        [&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      SmallVector<Carried> carried;
      for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
        if (std::optional<Carried> found = getCarried(loop, i))
          carried.push_back(std::move(*found));
      if (!carried.empty())
        rewriteLoop(loop, carried, rewriter);
    }
    RewritePatternSet patterns(&getContext());
    patterns.add<ScalarFirst, SumBeforeShape>(&getContext());
    // If this does not converge, the module is still valid.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
