// SPDX-License-Identifier: Apache-2.0
//
// Turns operations on pointers into those of ptr and tptr. Leaves functions,
// branches and atomics untouched, and, unless asked, tensors of pointers.

#include "Pointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
using triton_to_ptr::Access;
using triton_to_ptr::isTensorOfPointers;
using triton_to_ptr::loadAll;
using triton_to_ptr::storeAll;

Value Access::load(OpBuilder &builder, Location loc, Value pointer, Value mask,
                   Value other) const {
  auto load = [&](OpBuilder &builder) -> Value {
    return triton_ext::ptr::LoadOp::create(builder, loc, type, pointer,
                                           isVolatile);
  };
  if (!mask)
    return load(builder);
  if (!other)
    other = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  auto either = scf::IfOp::create(
      builder, loc, mask,
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, load(builder));
      },
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, other);
      });
  return either.getResult(0);
}

void Access::store(OpBuilder &builder, Location loc, Value pointer, Value value,
                   Value mask) {
  if (!mask) {
    triton_ext::ptr::StoreOp::create(builder, loc, value, pointer);
    return;
  }
  scf::IfOp::create(builder, loc, mask, [&](OpBuilder &builder, Location loc) {
    triton_ext::ptr::StoreOp::create(builder, loc, value, pointer);
    scf::YieldOp::create(builder, loc);
  });
}

namespace {

struct AddPtrPattern : OpConversionPattern<tt::AddPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AddPtrOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type();
    Type pointee = cast<tt::PointerType>(getElementTypeOrSelf(op.getType()))
                       .getPointeeType();
    Value size =
        triton_ext::ptr::TypeOffsetOp::create(rewriter, loc, i64, pointee);
    // In 32 bits, the product of an offset of 2^29 and 4 bytes would be less
    // than 0.
    Value offset = adaptor.getOffset();
    Type type = i64;
    if (auto tensor = dyn_cast<RankedTensorType>(offset.getType())) {
      type = tensor.clone(i64);
      size = tt::SplatOp::create(rewriter, loc, type, size);
    }
    if (offset.getType() != type)
      offset = arith::ExtSIOp::create(rewriter, loc, type, offset);
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
    Type type = getTypeConverter()->convertType(op.getType());
    Access access{getElementTypeOrSelf(type), op.getIsVolatile()};
    Value pointer = adaptor.getPtr(), mask = adaptor.getMask();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      rewriter.replaceOp(op, loadAll(rewriter, loc, tensor, access, pointer,
                                     mask, adaptor.getOther()));
    else
      rewriter.replaceOp(
          op, access.load(rewriter, loc, pointer, mask, adaptor.getOther()));
    return success();
  }
};

struct StorePattern : OpConversionPattern<tt::StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::StoreOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto store = isa<RankedTensorType>(adaptor.getPtr().getType())
                     ? storeAll
                     : Access::store;
    store(rewriter, op.getLoc(), adaptor.getPtr(), adaptor.getValue(),
          adaptor.getMask());
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
  if (tensors)
    triton_to_ptr::addTensors(converter, patterns, target);
  auto isPointer = [all = tensors.getValue()](Value value) {
    return isa<tt::PointerType>(value.getType()) ||
           (all && isTensorOfPointers(value.getType()));
  };
  target.addDynamicallyLegalOp<tt::AddPtrOp, tt::BitcastOp, tt::IntToPtrOp,
                               arith::SelectOp>(
      [=](Operation *op) { return !isPointer(op->getResult(0)); });
  target.addDynamicallyLegalOp<tt::PtrToIntOp>(
      [=](tt::PtrToIntOp op) { return !isPointer(op.getSrc()); });
  target.addDynamicallyLegalOp<tt::LoadOp>([=, this](tt::LoadOp op) {
    return !accesses || !isPointer(op.getPtr());
  });
  target.addDynamicallyLegalOp<tt::StoreOp>([=, this](tt::StoreOp op) {
    return !accesses || !isPointer(op.getPtr());
  });
  if (failed(
          applyPartialConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}
