// SPDX-License-Identifier: Apache-2.0
//
// Converts elementwise operations, on tensors or scalars.

#include "Builders.h"
#include "Conversion.h"

#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/InlineBody.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

static constexpr char isAssembly[] =
    "the assembly is that of one kind of processor (use the operations of "
    "triton.language, or a pure function of tl.extra.libdevice)";

namespace {

/// Replaces an operation by its counterpart in another dialect.
template <typename From, typename To>
struct RenamedPattern : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;

  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, adaptor.getOperands());
    return success();
  }
};

/// Removes a cast that does nothing once pointers are integers.
template <typename OpTy> struct ForwardPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSrc());
    return success();
  }
};

struct BitcastPattern : OpConversionPattern<tt::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::BitcastOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    if (adaptor.getSrc().getType() == type)
      rewriter.replaceOp(op, adaptor.getSrc());
    else
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, adaptor.getSrc());
    return success();
  }
};

struct AddPtrPattern : OpConversionPattern<tt::AddPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AddPtrOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType());
    Value offset = adaptor.getOffset();
    if (offset.getType() != type)
      offset = arith::ExtSIOp::create(rewriter, loc, type, offset);
    Type pointee = cast<tt::PointerType>(getElementTypeOrSelf(op.getType()))
                       .getPointeeType();
    Value bytes =
        constantOf(rewriter, loc, type,
                   llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8));
    Value scaled = arith::MulIOp::create(rewriter, loc, offset, bytes);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, adaptor.getPtr(), scaled);
    return success();
  }
};

struct FpToFpPattern : OpConversionPattern<tt::FpToFpOp> {
  using OpConversionPattern::OpConversionPattern;

  static Reason whyNot(tt::FpToFpOp op) {
    Type from = getElementTypeOrSelf(op.getSrc().getType());
    Type to = getElementTypeOrSelf(op.getType());
    std::optional<tt::RoundingMode> rounding = op.getRounding();
    bool narrows = to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
    if (!rounding || !narrows || *rounding == tt::RoundingMode::RTNE ||
        *rounding == tt::RoundingMode::RTZ)
      return std::nullopt;
    return "arith has no operation with its rounding mode (use rtne or rtz)";
  }

  LogicalResult matchAndRewrite(tt::FpToFpOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    if (Reason reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Value value = adaptor.getSrc();
    Type from = getElementTypeOrSelf(value.getType());
    Type to = getElementTypeOrSelf(op.getType());
    unsigned fromBits = from.getIntOrFloatBitWidth();
    unsigned toBits = to.getIntOrFloatBitWidth();
    if (from == to) {
      rewriter.replaceOp(op, value);
      return success();
    }
    // arith has no cast between formats of one width. Cast through f32, which
    // represents all values of both.
    if (fromBits == toBits)
      value = arith::ExtFOp::create(
          rewriter, op.getLoc(),
          withElement(op.getType(), rewriter.getF32Type()), value);
    if (fromBits < toBits) {
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), value);
      return success();
    }
    auto truncate =
        rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), value);
    if (std::optional<tt::RoundingMode> mode = op.getRounding())
      truncate.setRoundingmode(*mode == tt::RoundingMode::RTZ
                                   ? arith::RoundingMode::toward_zero
                                   : arith::RoundingMode::to_nearest_even);
    return success();
  }
};

struct ClampPattern : OpConversionPattern<tt::ClampFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ClampFOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (op.getPropagateNan() == tt::PropagateNan::ALL) {
      Value low = arith::MaximumFOp::create(rewriter, loc, adaptor.getX(),
                                            adaptor.getMin());
      rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, low, adaptor.getMax());
      return success();
    }
    Value low = arith::MaxNumFOp::create(rewriter, loc, adaptor.getX(),
                                         adaptor.getMin());
    rewriter.replaceOpWithNewOp<arith::MinNumFOp>(op, low, adaptor.getMax());
    return success();
  }
};

struct MapElementwisePattern : OpConversionPattern<tt::MapElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;

  static Reason whyNot(tt::MapElementwiseOp op) {
    if (op.getPack() != 1)
      return "it maps several elements at a time (use pack=1)";
    if (!op.getScalarOp().hasOneBlock())
      return "its body has control flow (use tl.where)";
    return std::nullopt;
  }

  LogicalResult matchAndRewrite(tt::MapElementwiseOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    if (Reason reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    SmallVector<Value> results;
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      auto map = linalg::MapOp::create(
          rewriter, op.getLoc(), adaptor.getSrcs(),
          emptyOf(rewriter, op.getLoc(), type),
          [&](OpBuilder &builder, Location loc, ValueRange arguments) {
            SmallVector<Value> values =
                inlineBody(builder, op.getScalarOp(), arguments);
            linalg::YieldOp::create(builder, loc,
                                    values[result.getResultNumber()]);
          });
      results.push_back(map->getResult(0));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ExternPattern : OpConversionPattern<tt::ExternElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;

  static Reason whyNot(tt::ExternElementwiseOp op) {
    if (op.getPure())
      return std::nullopt;
    return "the function has effects (is_pure=True says that it has none)";
  }

  LogicalResult matchAndRewrite(tt::ExternElementwiseOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    if (Reason reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    auto type = dyn_cast<RankedTensorType>(op.getType());
    Operation *call;
    if (type)
      call = linalg_ext::LibdeviceCallOp::create(
          rewriter, op.getLoc(), type, adaptor.getSrcs(),
          emptyOf(rewriter, op.getLoc(), type), op.getSymbolAttr());
    else
      call = linalg_ext::ScalarLibdeviceCallOp::create(
          rewriter, op.getLoc(), op.getType(), adaptor.getSrcs(),
          op.getSymbolAttr());
    rewriter.replaceOp(op, call->getResults());
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateElementwisePatterns(
    const TypeConverter &converter, PatternSet &patterns) {
  patterns.add<AddPtrPattern, BitcastPattern, ClampPattern, ExternPattern,
               ForwardPattern<tt::IntToPtrOp>, ForwardPattern<tt::PtrToIntOp>,
               FpToFpPattern, MapElementwisePattern,
               RefusedPattern<tt::ElementwiseInlineAsmOp, isAssembly>,
               RenamedPattern<tt::ApproxDivFOp, arith::DivFOp>,
               RenamedPattern<tt::MulhiUIOp, math_ext::MulhiUIOp>,
               RenamedPattern<tt::PreciseDivFOp, arith::DivFOp>,
               RenamedPattern<tt::PreciseSqrtOp, math::SqrtOp>>(converter);
}
