// SPDX-License-Identifier: Apache-2.0
//
// Lowers reductions along dimensions, which are the named reductions, argmax
// and argmin, to linalg.reduce.

#include "Lowering.h"

#include "OnTensors.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "triton_ext/InlineBody.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

namespace {

/// Gives the body of the operation to a linalg.reduce, whose arguments are the
/// same.
template <typename OpTy> struct ToReduce : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    SmallVector<unsigned> reduced;
    cast<linalg::LinalgOp>(*op).getReductionDims(reduced);
    auto reduce = linalg::ReduceOp::create(
        rewriter, op.getLoc(), op.getDpsInputs(), op.getDpsInits(),
        SmallVector<int64_t>(reduced.begin(), reduced.end()),
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          linalg::YieldOp::create(
              builder, loc, inlineBody(builder, op.getRegion(), arguments));
        });
    rewriter.replaceOp(op, reduce->getResults());
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateReductionPatterns(
    RewritePatternSet &patterns) {
  patterns.add<
      OnTensors<ArgMaxOp>, OnTensors<ArgMinOp>, OnTensors<ReduceMaxNanOp>,
      OnTensors<ReduceMaxOp>, OnTensors<ReduceMinNanOp>, OnTensors<ReduceMinOp>,
      OnTensors<ReduceSumOp>, ToReduce<ArgMaxOp>, ToReduce<ArgMinOp>,
      ToReduce<ReduceMaxNanOp>, ToReduce<ReduceMaxOp>, ToReduce<ReduceMinNanOp>,
      ToReduce<ReduceMinOp>, ToReduce<ReduceSumOp>>(patterns.getContext());
}
