// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices.

#include "Conversion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

namespace {

struct DotPattern : OpConversionPattern<tt::DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::DotOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Value> inputs{adaptor.getA(), adaptor.getB()};
    if (cast<RankedTensorType>(op.getType()).getRank() == 3)
      rewriter.replaceOpWithNewOp<linalg::BatchMatmulOp>(
          op, op.getType(), inputs, adaptor.getC());
    else
      rewriter.replaceOpWithNewOp<linalg::MatmulOp>(op, op.getType(), inputs,
                                                    adaptor.getC());
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateDotPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DotPattern>(converter, patterns.getContext());
}
