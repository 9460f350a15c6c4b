// SPDX-License-Identifier: Apache-2.0
//
// Turns operations on scalar pointers into those of ptr and tptr. Leaves
// tensors of pointers, functions, branches and atomics untouched.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tptr/Tptr.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Retype.h"

namespace mlir::triton_ext::triton_to_ptr {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_TRITONTOPTRPASS
#include "TritonToPtr.h.inc"
} // namespace mlir::triton_ext::triton_to_ptr

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

namespace {

struct AddPtrPattern : OpConversionPattern<tt::AddPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AddPtrOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type();
    Type pointee = cast<tt::PointerType>(op.getType()).getPointeeType();
    Value size =
        triton_ext::ptr::TypeOffsetOp::create(rewriter, loc, i64, pointee);
    // In 32 bits, the product of an offset of 2^29 and 4 bytes would be less
    // than 0.
    Value offset = adaptor.getOffset();
    if (offset.getType() != i64)
      offset = arith::ExtSIOp::create(rewriter, loc, i64, offset);
    Value bytes = arith::MulIOp::create(rewriter, loc, offset, size);
    rewriter.replaceOpWithNewOp<triton_ext::ptr::PtrAddOp>(
        op, adaptor.getPtr(), bytes, triton_ext::ptr::PtrAddFlags::none);
    return success();
  }
};

struct LoadPattern : OpConversionPattern<tt::LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::LoadOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    auto load = [&](OpBuilder &builder) -> Value {
      return triton_ext::ptr::LoadOp::create(
          builder, loc, type, adaptor.getPtr(), op.getIsVolatile());
    };
    if (!op.getMask()) {
      rewriter.replaceOp(op, load(rewriter));
      return success();
    }
    Value other = adaptor.getOther();
    if (!other)
      other =
          arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    rewriter.replaceOpWithNewOp<scf::IfOp>(
        op, adaptor.getMask(),
        [&](OpBuilder &builder, Location loc) {
          scf::YieldOp::create(builder, loc, load(builder));
        },
        [&](OpBuilder &builder, Location loc) {
          scf::YieldOp::create(builder, loc, other);
        });
    return success();
  }
};

struct StorePattern : OpConversionPattern<tt::StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::StoreOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto store = [&](OpBuilder &builder) {
      triton_ext::ptr::StoreOp::create(builder, op.getLoc(), adaptor.getValue(),
                                       adaptor.getPtr());
    };
    if (op.getMask())
      scf::IfOp::create(rewriter, op.getLoc(), adaptor.getMask(),
                        [&](OpBuilder &builder, Location loc) {
                          store(builder);
                          scf::YieldOp::create(builder, loc);
                        });
    else
      store(rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};

/// A cast between a pointer and a number.
template <typename From, typename To>
struct CastPattern : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;

  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(
        op, this->getTypeConverter()->convertType(op.getType()),
        adaptor.getSrc());
    return success();
  }
};

struct BitcastPattern : OpConversionPattern<tt::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::BitcastOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSrc());
    return success();
  }
};

struct TritonToPtrPass
    : mlir::triton_ext::triton_to_ptr::impl::TritonToPtrPassBase<
          TritonToPtrPass> {
  using TritonToPtrPassBase::TritonToPtrPassBase;

  void runOnOperation() override;
};

} // namespace

static bool isPointer(Type type) { return isa<tt::PointerType>(type); }

static void addConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](tt::PointerType type) -> Type {
    MLIRContext *context = type.getContext();
    return triton_ext::ptr::PtrType::get(
        context, triton_ext::ptr::GenericSpaceAttr::get(context));
  });
  auto cast = [](OpBuilder &builder, Type type, ValueRange values,
                 Location loc) -> Value {
    return UnrealizedConversionCastOp::create(builder, loc, type, values)
        .getResult(0);
  };
  converter.addSourceMaterialization(cast);
  converter.addTargetMaterialization(cast);
}

void TritonToPtrPass::runOnOperation() {
  TypeConverter converter;
  addConversions(converter);
  ConversionTarget target(getContext());
  RewritePatternSet patterns(&getContext());
  patterns.add<AddPtrPattern, BitcastPattern, LoadPattern,
               RetypePattern<arith::SelectOp>, StorePattern,
               CastPattern<tt::IntToPtrOp, tptr::IntToPtrOp>,
               CastPattern<tt::PtrToIntOp, tptr::PtrToIntOp>>(converter,
                                                              &getContext());
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addDynamicallyLegalOp<tt::AddPtrOp, tt::BitcastOp, tt::IntToPtrOp,
                               arith::SelectOp>(
      [](Operation *op) { return !isPointer(op->getResult(0).getType()); });
  target.addDynamicallyLegalOp<tt::PtrToIntOp>(
      [](tt::PtrToIntOp op) { return !isPointer(op.getSrc().getType()); });
  target.addDynamicallyLegalOp<tt::LoadOp>([&](tt::LoadOp op) {
    return !accesses || !isPointer(op.getPtr().getType());
  });
  target.addDynamicallyLegalOp<tt::StoreOp>([&](tt::StoreOp op) {
    return !accesses || !isPointer(op.getPtr().getType());
  });
  if (failed(
          applyPartialConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}
