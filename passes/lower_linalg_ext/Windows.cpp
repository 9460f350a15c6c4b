// SPDX-License-Identifier: Apache-2.0
//
// Lowers operations on windows of images, and triangles, to linalg.generic,
// because linalg has no named operations for them. Linalg's own generalization
// does it: these operations have its interface.

#include "Lowering.h"

#include "OnTensors.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

namespace {

template <typename OpTy> struct ToGeneric : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    return linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(*op));
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateWindowPatterns(
    RewritePatternSet &patterns) {
  patterns.add<OnTensors<BatchConv2DNhwcFhwcOp>, OnTensors<Im2ColOp>,
               OnTensors<PoolingNhwcMaxNanOp>, OnTensors<PoolingNhwcMinNanOp>,
               OnTensors<TriOp>, ToGeneric<BatchConv2DNhwcFhwcOp>,
               ToGeneric<Im2ColOp>, ToGeneric<PoolingNhwcMaxNanOp>,
               ToGeneric<PoolingNhwcMinNanOp>, ToGeneric<TriOp>>(
      patterns.getContext());
}
