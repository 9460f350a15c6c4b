// SPDX-License-Identifier: Apache-2.0
//
// Lowers reductions along dimensions, which are the named reductions, argmax
// and argmin, to linalg.reduce.

#include "Lowering.h"

#include "OnTensors.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "triton_ext/InlineBody.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

namespace {

/// Lowers a named reduction. Its combiner is `Float` for floats and `Integer`
/// for integers.
template <typename OpTy, typename Float, typename Integer>
struct NamedReduction : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    auto reduce = linalg::ReduceOp::create(
        rewriter, op.getLoc(), op.getInput(), op.getInit(), op.getDimensions(),
        [](OpBuilder &builder, Location loc, ValueRange arguments) {
          Value element = arguments[0], accumulator = arguments[1], combined;
          if (isa<FloatType>(element.getType()))
            combined = Float::create(builder, loc, accumulator, element);
          else
            combined = Integer::create(builder, loc, accumulator, element);
          linalg::YieldOp::create(builder, loc, combined);
        });
    rewriter.replaceOp(op, reduce->getResults());
    return success();
  }
};

template <typename OpTy, bool isMax>
struct ArgPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    SmallVector<Value> inputs{op.getValues(), op.getIndices()};
    auto reduce = linalg::ReduceOp::create(
        rewriter, op.getLoc(), inputs, op.getInits(),
        int64_t(op.getDimension()),
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          if (!op.getBody().empty()) {
            linalg::YieldOp::create(
                builder, loc, inlineBody(builder, op.getBody(), arguments));
            return;
          }
          Value x = arguments[0], j = arguments[1];
          Value v = arguments[2], i = arguments[3];
          Value stays = isBefore(builder, loc, v, x);
          if (op.getTieBreakLeft()) {
            Value tie = arith::AndIOp::create(
                builder, loc, isEqual(builder, loc, v, x),
                arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      i, j));
            stays = arith::OrIOp::create(builder, loc, stays, tie);
          }
          SmallVector<Value> results{
              arith::SelectOp::create(builder, loc, stays, v, x),
              arith::SelectOp::create(builder, loc, stays, i, j)};
          linalg::YieldOp::create(builder, loc, results);
        });
    rewriter.replaceOp(op, reduce->getResults());
    return success();
  }

  static Value isBefore(OpBuilder &builder, Location loc, Value v, Value x) {
    if (isa<FloatType>(v.getType()))
      return arith::CmpFOp::create(
          builder, loc,
          isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, v, x);
    return arith::CmpIOp::create(
        builder, loc,
        isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, v, x);
  }

  static Value isEqual(OpBuilder &builder, Location loc, Value v, Value x) {
    if (isa<FloatType>(v.getType()))
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, v,
                                   x);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, v, x);
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateReductionPatterns(
    RewritePatternSet &patterns) {
  patterns
      .add<ArgPattern<ArgMaxOp, true>, ArgPattern<ArgMinOp, false>,
           NamedReduction<ReduceSumOp, arith::AddFOp, arith::AddIOp>,
           NamedReduction<ReduceMaxOp, arith::MaxNumFOp, arith::MaxSIOp>,
           NamedReduction<ReduceMinOp, arith::MinNumFOp, arith::MinSIOp>,
           NamedReduction<ReduceMaxNanOp, arith::MaximumFOp, arith::MaxSIOp>,
           NamedReduction<ReduceMinNanOp, arith::MinimumFOp, arith::MinSIOp>,
           OnTensors<ArgMaxOp>, OnTensors<ArgMinOp>, OnTensors<ReduceMaxNanOp>,
           OnTensors<ReduceMaxOp>, OnTensors<ReduceMinNanOp>,
           OnTensors<ReduceMinOp>, OnTensors<ReduceSumOp>>(
          patterns.getContext());
}
