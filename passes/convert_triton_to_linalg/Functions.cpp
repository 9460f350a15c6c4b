// SPDX-License-Identifier: Apache-2.0
//
// Functions and their calls, and what other dialects do with pointers: pointers
// are i64.

#include "Conversion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

namespace {

struct FuncPattern : OpConversionPattern<tt::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::FuncOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(),
                                                        signature)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)))
      return failure();
    auto function = func::FuncOp::create(
        rewriter, op.getLoc(), op.getName(),
        FunctionType::get(getContext(), signature.getConvertedTypes(),
                          results));
    function.setVisibility(op.getVisibility());
    function->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    function.setArgAttrsAttr(op.getArgAttrsAttr());
    function.setResAttrsAttr(op.getResAttrsAttr());
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(),
                                function.end());
    if (!function.isExternal() &&
        failed(rewriter.convertRegionTypes(&function.getBody(),
                                           *getTypeConverter(), &signature)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnPattern : OpConversionPattern<tt::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ReturnOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, adaptor.getSrcs());
    return success();
  }
};

struct CallPattern : OpConversionPattern<tt::CallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::CallOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    rewriter.replaceOpWithNewOp<func::CallOp>(op, op.getCallee(), types,
                                              adaptor.getOperands());
    return success();
  }
};

/// Blocks inside of one, such as the body of a function with an early return
/// that gives a pointer, inlined.
struct ExecuteRegionPattern : OpConversionPattern<scf::ExecuteRegionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(scf::ExecuteRegionOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    auto converted = scf::ExecuteRegionOp::create(rewriter, op.getLoc(), types,
                                                  op.getNoInline());
    rewriter.inlineRegionBefore(op.getRegion(), converted.getRegion(),
                                converted.getRegion().end());
    if (failed(rewriter.convertRegionTypes(&converted.getRegion(),
                                           *getTypeConverter())))
      return failure();
    rewriter.replaceOp(op, converted.getResults());
    return success();
  }
};

/// An operation of another dialect that is on pointers, such as arith.select
/// and cf.br.
struct RetypedPattern : ConversionPattern {
  RetypedPattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0,
                          context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                Rewriter &rewriter) const override {
    SmallVector<Type> types;
    if (isa<tt::TritonDialect>(op->getDialect()) || op->getNumRegions() != 0 ||
        failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs(), op->getSuccessors());
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

} // namespace

void mlir::triton_ext::convert_triton_to_linalg::addConversions(
    TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](tt::PointerType type) -> Type {
    return IntegerType::get(type.getContext(), 64);
  });
  converter.addConversion([](RankedTensorType type) -> Type {
    if (!isa<tt::PointerType>(type.getElementType()))
      return type;
    return type.clone(IntegerType::get(type.getContext(), 64));
  });
}

void mlir::triton_ext::convert_triton_to_linalg::populateFunctionPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CallPattern, ExecuteRegionPattern, FuncPattern, RetypedPattern,
               ReturnPattern>(converter, patterns.getContext());
}
