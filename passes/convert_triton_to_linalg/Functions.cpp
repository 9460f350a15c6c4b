// SPDX-License-Identifier: Apache-2.0
//
// Converts functions and calls, and operations of other dialects on pointers.
// Pointers become i64.

#include "Conversion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Retype.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

static constexpr StringLiteral noSuchType = "linalg has no such type";

static bool isOfTriton(Type type) {
  return isa<tt::TritonDialect>(getElementTypeOrSelf(type).getDialect());
}

namespace {

struct FuncPattern : OpConversionPattern<tt::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  static Reason whyNot(tt::FuncOp op) {
    auto isConvertible = [](Type type) {
      return isa<tt::PointerType, IntegerType, IndexType, FloatType,
                 RankedTensorType, UnrankedMemRefType>(type);
    };
    if (llvm::all_of(op.getFunctionType().getInputs(), isConvertible))
      return std::nullopt;
    return "an argument is neither a pointer nor a number nor a tensor (tensor "
           "descriptors: run -triton-rewrite-tensor-descriptor-to-pointer "
           "first)";
  }

  LogicalResult matchAndRewrite(tt::FuncOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    if (Reason reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(),
                                                        signature)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)))
      return rewriter.notifyMatchFailure(op, noSuchType);
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
      return rewriter.notifyMatchFailure(op, noSuchType);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Leaves func.func as it is, and refuses one with arguments or results of
/// Triton's pointer types.
struct StandardFuncPattern : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  static Reason whyNot(func::FuncOp op) {
    if (llvm::none_of(op.getArgumentTypes(), isOfTriton) &&
        llvm::none_of(op.getResultTypes(), isOfTriton))
      return std::nullopt;
    return "it has arguments or results that are Triton's pointers or "
           "descriptors (make it a tt.func)";
  }

  LogicalResult matchAndRewrite(func::FuncOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    return rewriter.notifyMatchFailure(op, "it is not a function of Triton");
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
      return rewriter.notifyMatchFailure(op, noSuchType);
    rewriter.replaceOpWithNewOp<func::CallOp>(op, op.getCallee(), types,
                                              adaptor.getOperands());
    return success();
  }
};

/// Converts a region of several blocks, such as the body of an inlined function
/// that returns a pointer early.
struct ExecuteRegionPattern : OpConversionPattern<scf::ExecuteRegionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(scf::ExecuteRegionOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, noSuchType);
    auto converted = scf::ExecuteRegionOp::create(rewriter, op.getLoc(), types,
                                                  op.getNoInline());
    rewriter.inlineRegionBefore(op.getRegion(), converted.getRegion(),
                                converted.getRegion().end());
    if (failed(rewriter.convertRegionTypes(&converted.getRegion(),
                                           *getTypeConverter())))
      return rewriter.notifyMatchFailure(op, noSuchType);
    rewriter.replaceOp(op, converted.getResults());
    return success();
  }
};

/// Replaces an operation of another dialect on pointers, such as `arith.select`
/// or `cf.br`, by the same operation on i64.
struct RetypedPattern : ConversionPattern {
  RetypedPattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0,
                          context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                Rewriter &rewriter) const override {
    if (isa<tt::TritonDialect>(op->getDialect()))
      return rewriter.notifyMatchFailure(op, "it has a pattern of its own");
    if (op->getNumRegions() != 0)
      return rewriter.notifyMatchFailure(op, "it has regions");
    if (failed(retype(op, operands, *getTypeConverter(), rewriter)))
      return rewriter.notifyMatchFailure(op, noSuchType);
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
    const TypeConverter &converter, PatternSet &patterns) {
  patterns.add<CallPattern, ExecuteRegionPattern, FuncPattern, ReturnPattern,
               StandardFuncPattern>(converter);
  patterns.patterns.add<RetypedPattern>(converter,
                                        patterns.patterns.getContext());
}
