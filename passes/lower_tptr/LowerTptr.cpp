// SPDX-License-Identifier: Apache-2.0
//
// Lowers tptr to arithmetic on i64 and to views of memory. Leaves operations
// on pointers that it does not know untouched.

#include "aux/Aux.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tptr/Tptr.h"
#include "triton_ext/Retype.h"

namespace mlir::triton_ext::lower_tptr {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERTPTRPASS
#include "LowerTptr.h.inc"
} // namespace mlir::triton_ext::lower_tptr

using namespace mlir;
using namespace mlir::triton_ext;
using Rewriter = ConversionPatternRewriter;

/// Extends or cuts an integer or index.
static Value resize(OpBuilder &builder, Location loc, Value value, Type type,
                    bool isSigned) {
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex() || type.isIndex()) {
    Type i64 = builder.getI64Type(); // an index has 64 bits
    if (!value.getType().isIndex())
      value = resize(builder, loc, value, i64, isSigned);
    value = arith::IndexCastOp::create(
        builder, loc, value.getType().isIndex() ? i64 : type, value);
    return resize(builder, loc, value, type, isSigned);
  }
  if (value.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, value);
  if (isSigned)
    return arith::ExtSIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

/// Returns the memory at an address.
static Value viewOf(OpBuilder &builder, Location loc, Value address,
                    MemRefType type) {
  auto indices = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  SmallVector<int64_t> strides;
  int64_t offset;
  // The verifier has checked that they are known.
  (void)type.getStridesAndOffset(strides, offset);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
  return aux::ViewOp::create(builder, loc, type, pointer,
                             builder.getIndexAttr(offset),
                             indices(type.getShape()), indices(strides));
}

/// Returns the element at an address as a memref and an index.
static std::pair<Value, Value> elementAt(OpBuilder &builder, Location loc,
                                         Value address, Type element) {
  Value view = viewOf(builder, loc, address, MemRefType::get({1}, element));
  return {view, arith::ConstantIndexOp::create(builder, loc, 0)};
}

namespace {

struct IntToPtrPattern : OpConversionPattern<tptr::IntToPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::IntToPtrOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, resize(rewriter, op.getLoc(), adaptor.getArg(),
                                  rewriter.getI64Type(), /*isSigned=*/false));
    return success();
  }
};

struct PtrToIntPattern : OpConversionPattern<tptr::PtrToIntOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::PtrToIntOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, resize(rewriter, op.getLoc(), adaptor.getArg(),
                                  op.getType(), /*isSigned=*/false));
    return success();
  }
};

struct TypeOffsetPattern : OpConversionPattern<tptr::TypeOffsetOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::TypeOffsetOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    std::optional<int64_t> bytes =
        tptr::TypeOffsetOp::bytesOf(op.getBaseType());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, rewriter.getIntegerAttr(op.getType(), *bytes));
    return success();
  }
};

struct PtrAddPattern : OpConversionPattern<tptr::PtrAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::PtrAddOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Value offset = resize(rewriter, op.getLoc(), adaptor.getOffset(),
                          rewriter.getI64Type(), /*isSigned=*/true);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, adaptor.getBase(), offset);
    return success();
  }
};

struct FromMemrefPattern : OpConversionPattern<tptr::FromMemrefOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::FromMemrefOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element =
        cast<BaseMemRefType>(op.getInput().getType()).getElementType();
    std::optional<int64_t> bytes = tptr::TypeOffsetOp::bytesOf(element);
    if (!bytes)
      return rewriter.notifyMatchFailure(op, "an element has no known size");
    Value memref = adaptor.getInput();
    if (auto unranked = dyn_cast<UnrankedMemRefType>(memref.getType()))
      memref = memref::CastOp::create(
          rewriter, loc,
          MemRefType::get({1}, element, MemRefLayoutAttrInterface(),
                          unranked.getMemorySpace()),
          memref);
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc, memref);
    SmallVector<int64_t> strides;
    int64_t known;
    (void)cast<MemRefType>(memref.getType())
        .getStridesAndOffset(strides, known);
    if (known != 0) {
      Value offset =
          memref::ExtractStridedMetadataOp::create(rewriter, loc, memref)
              .getOffset();
      Value size = arith::ConstantIndexOp::create(rewriter, loc, *bytes);
      offset = arith::MulIOp::create(rewriter, loc, offset, size);
      address = arith::AddIOp::create(rewriter, loc, address, offset);
    }
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getI64Type(),
                                                    address);
    return success();
  }
};

struct ToMemrefPattern : OpConversionPattern<tptr::ToMemrefOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::ToMemrefOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, viewOf(rewriter, op.getLoc(), adaptor.getArg(),
                                  cast<MemRefType>(op.getRes().getType())));
    return success();
  }
};

struct LoadPattern : OpConversionPattern<tptr::LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::LoadOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto [view, index] =
        elementAt(rewriter, op.getLoc(), adaptor.getAddr(),
                  getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOpWithNewOp<memref::LoadOp>(op, view, index);
    return success();
  }
};

struct StorePattern : OpConversionPattern<tptr::StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tptr::StoreOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto [view, index] = elementAt(rewriter, op.getLoc(), adaptor.getAddr(),
                                   adaptor.getValue().getType());
    rewriter.replaceOpWithNewOp<memref::StoreOp>(op, adaptor.getValue(), view,
                                                 index);
    return success();
  }
};

struct CastPattern : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(UnrealizedConversionCastOp op,
                                OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getInputs());
    return success();
  }
};

/// Converts the arguments of all blocks, too.
struct FuncPattern : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(func::FuncOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(),
                                                        signature)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)) ||
        failed(rewriter.convertRegionTypes(&op.getBody(), *getTypeConverter(),
                                           &signature)))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setType(FunctionType::get(getContext(), signature.getConvertedTypes(),
                                   results));
    });
    return success();
  }
};

struct LowerTptrPass
    : mlir::triton_ext::lower_tptr::impl::LowerTptrPassBase<LowerTptrPass> {
  using LowerTptrPassBase::LowerTptrPassBase;

  void runOnOperation() override;
};

} // namespace

static void addConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](triton_ext::ptr::PtrType type) -> Type {
    return IntegerType::get(type.getContext(), 64);
  });
  auto cast = [](OpBuilder &builder, Type type, ValueRange values,
                 Location loc) -> Value {
    return UnrealizedConversionCastOp::create(builder, loc, type, values)
        .getResult(0);
  };
  converter.addSourceMaterialization(cast);
  converter.addTargetMaterialization(cast);
}

void LowerTptrPass::runOnOperation() {
  TypeConverter converter;
  addConversions(converter);
  ConversionTarget target(getContext());
  RewritePatternSet patterns(&getContext());
  patterns.add<CastPattern, FromMemrefPattern, FuncPattern, IntToPtrPattern,
               LoadPattern, PtrAddPattern, PtrToIntPattern,
               RetypePattern<arith::SelectOp>, StorePattern, ToMemrefPattern,
               TypeOffsetPattern>(converter, &getContext());
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  populateBranchOpInterfaceTypeConversionPattern(patterns, converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  target.addIllegalDialect<tptr::TptrDialect>();
  target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp, arith::SelectOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>([&](Operation *op) {
    return converter.isLegal(op) || op->getNumOperands() != 1 ||
           converter.convertType(op->getOperand(0).getType()) !=
               converter.convertType(op->getResult(0).getType());
  });
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType()) &&
           converter.isLegal(&op.getBody());
  });
  // The blocks of other regions than functions keep their arguments.
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return !isa<BranchOpInterface>(op) ||
           !isa<func::FuncOp>(op->getParentOp()) ||
           isLegalForBranchOpInterfaceTypeConversionPattern(op, converter);
  });
  if (failed(
          applyPartialConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}
