// SPDX-License-Identifier: Apache-2.0
//
// Converts matrix products. Those of scaled operands become tt.dot before, by
// -triton-ext-expand-dot-scaled.

#include "Builders.h"
#include "Conversion.h"

#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

static Value product(OpBuilder &builder, Location loc, Value a, Value b,
                     Value c) {
  SmallVector<Value> inputs{a, b};
  if (cast<RankedTensorType>(c.getType()).getRank() == 3)
    return linalg::BatchMatmulOp::create(builder, loc, c.getType(), inputs, c)
        ->getResult(0);
  return linalg::MatmulOp::create(builder, loc, c.getType(), inputs, c)
      ->getResult(0);
}

namespace {

struct DotPattern : OpConversionPattern<tt::DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::DotOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, product(rewriter, op.getLoc(), adaptor.getA(),
                                   adaptor.getB(), adaptor.getC()));
    return success();
  }
};

/// Gives the reason why a product of scaled operands is not converted.
struct DotScaledPattern : OpConversionPattern<tt::DotScaledOp> {
  using OpConversionPattern::OpConversionPattern;

  static Reason whyNot(tt::DotScaledOp op) {
    using Format = tt::ScaleDotElemType;
    for (Format format : {op.getAElemType(), op.getBElemType()})
      if (format == Format::E2M3 || format == Format::E3M2)
        return "no type has the formats e2m3 and e3m2 (use e2m1, e4m3 or e5m2)";
    return "it is no tt.dot yet (run -triton-ext-expand-dot-scaled before)";
  }

  LogicalResult matchAndRewrite(tt::DotScaledOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    return rewriter.notifyMatchFailure(op, *whyNot(op));
  }
};

} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateDotPatterns(
    const TypeConverter &converter, PatternSet &patterns) {
  patterns.add<DotPattern, DotScaledPattern>(converter);
}
