// SPDX-License-Identifier: Apache-2.0
//
// Reductions, scans and histograms.

#include "Builders.h"
#include "Conversion.h"

#include "linalg_ext/LinalgExt.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

namespace {

/// The value that changes nothing, for combiners of which there is one. That of
/// a sum is -0.0: 0.0 would change the sign of a sum of negative zeros. Maximum
/// and minimum have none here: with NaN among the elements that would not do.
static TypedAttr getIdentity(Operation *combiner, Builder &builder) {
  Type type = combiner->getResult(0).getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto integer = [&](APInt value) -> TypedAttr {
    return builder.getIntegerAttr(type, value);
  };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case([&](arith::AddFOp) { return builder.getFloatAttr(type, -0.0); })
      .Case([&](arith::MulFOp) { return builder.getFloatAttr(type, 1.0); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return integer(APInt::getZero(bits)); })
      .Case([&](arith::MulIOp) { return integer(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](Operation *) { return integer(APInt::getAllOnes(bits)); })
      .Case([&](arith::MaxSIOp) {
        return integer(APInt::getSignedMinValue(bits));
      })
      .Case([&](arith::MinSIOp) {
        return integer(APInt::getSignedMaxValue(bits));
      })
      .Default([](Operation *) { return TypedAttr(); });
}

struct ReducePattern : OpConversionPattern<tt::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ReduceOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis();
    auto whole = cast<RankedTensorType>(adaptor.getSrcs()[0].getType());
    SmallVector<int64_t> shape(whole.getShape());
    shape.erase(shape.begin() + axis);

    SmallVector<Value> inputs(adaptor.getSrcs()), inits;
    Operation *combiner = op.getSingleCombiner();
    TypedAttr identity = combiner && inputs.size() == 1
                             ? getIdentity(combiner, rewriter)
                             : TypedAttr();
    for (Value &input : inputs) {
      Type element = getElementTypeOrSelf(input.getType());
      if (identity) {
        Value value = arith::ConstantOp::create(rewriter, loc, identity);
        inits.push_back(fill(rewriter, loc, tensorOf(shape, element), value));
        continue;
      }
      // Without one the reduction begins with the first elements.
      Part first(rewriter, whole, axis, 0, 1);
      inits.push_back(tensor::ExtractSliceOp::create(
          rewriter, loc, tensorOf(shape, element), input, first.offsets,
          first.sizes, first.strides));
      Part rest(rewriter, whole, axis, 0, whole.getDimSize(axis) - 1);
      rest.offsets[axis] = rewriter.getIndexAttr(1);
      if (whole.getDimSize(axis) != 1)
        input = tensor::ExtractSliceOp::create(
            rewriter, loc, input, rest.offsets, rest.sizes, rest.strides);
    }
    SmallVector<Value> results;
    if (!identity && whole.getDimSize(axis) == 1) {
      results = inits;
    } else {
      // A body of Triton has accumulators first, one of linalg elements.
      auto reduce = linalg::ReduceOp::create(
          rewriter, loc, inputs, inits, axis,
          [&](OpBuilder &builder, Location loc, ValueRange arguments) {
            IRMapping mapping;
            size_t count = inputs.size();
            auto from = op.getCombineOp().getArguments();
            mapping.map(from.take_front(count), arguments.drop_front(count));
            mapping.map(from.drop_front(count), arguments.take_front(count));
            linalg::YieldOp::create(
                builder, loc, cloneBody(builder, op.getCombineOp(), mapping));
          });
      results.assign(reduce->getResults().begin(), reduce->getResults().end());
    }
    if (shape.empty())
      for (Value &result : results)
        result = tensor::ExtractOp::create(rewriter, loc, result, ValueRange());
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ScanPattern : OpConversionPattern<tt::ScanOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ScanOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (Value source : adaptor.getSrcs()) {
      types.push_back(source.getType());
      inits.push_back(emptyOf(rewriter, op.getLoc(),
                              cast<RankedTensorType>(source.getType())));
    }
    auto scan = linalg_ext::ScanOp::create(
        rewriter, op.getLoc(), types, adaptor.getSrcs(), inits,
        int64_t(op.getAxis()), op.getReverse());
    OpBuilder::InsertionGuard guard(rewriter);
    auto from = op.getCombineOp().getArguments();
    Block *body = rewriter.createBlock(
        &scan.getBody(), {}, op.getCombineOp().getArgumentTypes(),
        SmallVector<Location>(from.size(), op.getLoc()));
    IRMapping mapping;
    mapping.map(from, body->getArguments());
    linalg_ext::YieldOp::create(
        rewriter, op.getLoc(), cloneBody(rewriter, op.getCombineOp(), mapping));
    rewriter.replaceOp(op, scan.getResults());
    return success();
  }
};

struct HistogramPattern : OpConversionPattern<tt::HistogramOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::HistogramOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value zero = constantOf(rewriter, loc, type.getElementType(), 0);
    auto histogram = linalg_ext::HistogramOp::create(
        rewriter, loc, adaptor.getSrc(), adaptor.getMask(),
        fill(rewriter, loc, type, zero));
    rewriter.replaceOp(op, histogram.getResult());
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateReducePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<HistogramPattern, ReducePattern, ScanPattern>(
      converter, patterns.getContext());
}
