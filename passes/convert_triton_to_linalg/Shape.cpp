// SPDX-License-Identifier: Apache-2.0
//
// Converts operations that create tensors, or change their shape or the order
// of their elements.

#include "Builders.h"
#include "Conversion.h"

#include "linalg_ext/LinalgExt.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

namespace {

struct SplatPattern : OpConversionPattern<tt::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::SplatOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op, fill(rewriter, op.getLoc(), type, adaptor.getSrc()));
    return success();
  }
};

struct UnsplatPattern : OpConversionPattern<tt::UnsplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::UnsplatOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
    SmallVector<Value> indices(
        cast<RankedTensorType>(adaptor.getSrc().getType()).getRank(), zero);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, adaptor.getSrc(),
                                                   indices);
    return success();
  }
};

struct MakeRangePattern : OpConversionPattern<tt::MakeRangeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::MakeRangeOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value start = arith::ConstantOp::create(rewriter, loc, op.getStartAttr());
    Value end = arith::ConstantOp::create(rewriter, loc, op.getEndAttr());
    Value init = emptyOf(rewriter, loc, type);
    rewriter.replaceOp(
        op, linalg_ext::MakeRangeOp::create(rewriter, loc, start, end, init)
                .getResult());
    return success();
  }
};

struct ExpandDimsPattern : OpConversionPattern<tt::ExpandDimsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ExpandDimsOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    SmallVector<bool> added(type.getRank());
    added[op.getAxis()] = true;
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, type, adaptor.getSrc(), groupsOf(added));
    return success();
  }
};

struct BroadcastPattern : OpConversionPattern<tt::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::BroadcastOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = adaptor.getSrc();
    auto from = cast<RankedTensorType>(source.getType());
    auto to = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    SmallVector<bool> dropped;
    SmallVector<int64_t> kept, added;
    for (int64_t dim = 0; dim < to.getRank(); ++dim) {
      dropped.push_back(from.getDimSize(dim) != to.getDimSize(dim));
      if (dropped.back())
        added.push_back(dim);
      else
        kept.push_back(from.getDimSize(dim));
    }
    if (added.empty()) {
      rewriter.replaceOp(op, source);
      return success();
    }
    Value collapsed = tensor::CollapseShapeOp::create(
        rewriter, loc, tensorOf(kept, from.getElementType()), source,
        groupsOf(dropped));
    auto broadcast = linalg::BroadcastOp::create(
        rewriter, loc, collapsed, emptyOf(rewriter, loc, to), added);
    rewriter.replaceOp(op, broadcast->getResults());
    return success();
  }
};

struct ReshapePattern : OpConversionPattern<tt::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ReshapeOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op,
                       reshape(rewriter, op.getLoc(), adaptor.getSrc(), type));
    return success();
  }
};

struct TransPattern : OpConversionPattern<tt::TransOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::TransOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    SmallVector<int64_t> order(op.getOrder());
    auto transpose = linalg::TransposeOp::create(
        rewriter, op.getLoc(), adaptor.getSrc(),
        emptyOf(rewriter, op.getLoc(), type), order);
    rewriter.replaceOp(op, transpose->getResults());
    return success();
  }
};

static Value joinParts(OpBuilder &builder, Location loc, RankedTensorType type,
                       Value lhs, Value rhs, int64_t dim) {
  Value whole = emptyOf(builder, loc, type);
  for (auto [index, value] : llvm::enumerate(SmallVector<Value>{lhs, rhs})) {
    Part part(builder, type, dim, index, type.getDimSize(dim) / 2);
    whole = tensor::InsertSliceOp::create(
        builder, loc, value, whole, part.offsets, part.sizes, part.strides);
  }
  return whole;
}

struct CatPattern : OpConversionPattern<tt::CatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::CatOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op, joinParts(rewriter, op.getLoc(), type,
                                     adaptor.getLhs(), adaptor.getRhs(), 0));
    return success();
  }
};

struct JoinPattern : OpConversionPattern<tt::JoinOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::JoinOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op,
                       joinParts(rewriter, op.getLoc(), type, adaptor.getLhs(),
                                 adaptor.getRhs(), type.getRank() - 1));
    return success();
  }
};

struct SplitPattern : OpConversionPattern<tt::SplitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::SplitOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(adaptor.getSrc().getType());
    auto to = getTypeConverter()->convertType<RankedTensorType>(
        op.getOutLHS().getType());
    SmallVector<Value> parts;
    for (int64_t index : {0, 1}) {
      Part part(rewriter, from, from.getRank() - 1, index, 1);
      parts.push_back(tensor::ExtractSliceOp::create(
          rewriter, op.getLoc(), to, adaptor.getSrc(), part.offsets, part.sizes,
          part.strides));
    }
    rewriter.replaceOp(op, parts);
    return success();
  }
};

struct GatherPattern : OpConversionPattern<tt::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::GatherOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    auto map = linalg::MapOp::create(
        rewriter, op.getLoc(), adaptor.getIndices(),
        emptyOf(rewriter, op.getLoc(), type),
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          SmallVector<Value> indices;
          Type index = builder.getIndexType();
          // Triton reads indices of less than 32 bits as unsigned.
          bool isNarrow = arguments[0].getType().getIntOrFloatBitWidth() < 32;
          for (int64_t dim = 0; dim < type.getRank(); ++dim) {
            if (dim == int64_t(op.getAxis()) && isNarrow)
              indices.push_back(arith::IndexCastUIOp::create(
                  builder, loc, index, arguments[0]));
            else if (dim == int64_t(op.getAxis()))
              indices.push_back(arith::IndexCastOp::create(builder, loc, index,
                                                           arguments[0]));
            else
              indices.push_back(linalg::IndexOp::create(builder, loc, dim));
          }
          Value value = tensor::ExtractOp::create(builder, loc,
                                                  adaptor.getSrc(), indices);
          linalg::YieldOp::create(builder, loc, value);
        });
    rewriter.replaceOp(op, map->getResults());
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateShapePatterns(
    const TypeConverter &converter, PatternSet &patterns) {
  patterns.add<BroadcastPattern, CatPattern, ExpandDimsPattern, GatherPattern,
               JoinPattern, MakeRangePattern, ReshapePattern, SplatPattern,
               SplitPattern, TransPattern, UnsplatPattern>(converter);
}
