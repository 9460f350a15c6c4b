// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on addresses.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "tptr/Tptr.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
namespace ours = mlir::triton_ext::ptr;

Type lower_tptr::withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

Value lower_tptr::asType(OpBuilder &builder, Location loc, Value value,
                         Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

Value lower_tptr::addressOf(OpBuilder &builder, Value pointers) {
  return asType(builder, pointers.getLoc(), pointers,
                withElement(pointers.getType(), builder.getI64Type()));
}

Value lower_tptr::resize(OpBuilder &builder, Location loc, Value value,
                         Type element, bool isSigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type i64 = builder.getI64Type(); // an index has 64 bits
  if (from.isIndex() || element.isIndex()) {
    if (!from.isIndex())
      value = resize(builder, loc, value, i64, isSigned);
    value = arith::IndexCastOp::create(
        builder, loc,
        withElement(value.getType(), from.isIndex() ? i64 : element), value);
    return resize(builder, loc, value, element, isSigned);
  }
  Type type = withElement(value.getType(), element);
  if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, value);
  if (isSigned)
    return arith::ExtSIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

/// Repeats one value, if `type` has many; null if it does not say how many.
static Value repeat(OpBuilder &builder, Location loc, Value value, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || isa<ShapedType>(value.getType()))
    return value;
  Type many = shaped.clone(value.getType());
  if (isa<VectorType>(many))
    return vector::BroadcastOp::create(builder, loc, many, value);
  if (!shaped.hasStaticShape())
    return {};
  return tensor::SplatOp::create(builder, loc, many, value);
}

static LogicalResult lowerAdd(ours::PtrAddOp op, OpBuilder &builder) {
  Location loc = op.getLoc();
  Type type = op.getType();
  Value base =
      repeat(builder, loc, lower_tptr::addressOf(builder, op.getBase()), type);
  Value offset =
      lower_tptr::resize(builder, loc, op.getOffset(), builder.getI64Type(),
                         /*isSigned=*/true);
  offset = repeat(builder, loc, offset, type);
  if (!base || !offset)
    return op.emitOpError() << "has no lowering: " << type
                            << " does not say how many elements there are";
  Value sum = arith::AddIOp::create(builder, loc, base, offset);
  op.replaceAllUsesWith(lower_tptr::asType(builder, loc, sum, type));
  return success();
}

static Value lowerConstant(ours::ConstantOp op, OpBuilder &builder) {
  APInt address = APInt::getZero(ours::kBits);
  if (auto known = dyn_cast<ours::AddressAttr>(op.getValue()))
    address = known.getValue().sextOrTrunc(ours::kBits);
  return arith::ConstantOp::create(
      builder, op.getLoc(),
      builder.getIntegerAttr(builder.getI64Type(), address));
}

LogicalResult lower_tptr::lower(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  // One result, whose pointers are addresses for the time being.
  auto replace = [&](Value value) {
    Value result = op->getResult(0);
    result.replaceAllUsesWith(asType(builder, loc, value, result.getType()));
    return success();
  };
  Type i64 = builder.getI64Type();
  LogicalResult done =
      TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](ours::ConstantOp op) {
            return replace(lowerConstant(op, builder));
          })
          .Case([&](ours::TypeOffsetOp op) {
            int64_t bytes = *ours::TypeOffsetOp::bytesOf(op.getElementType());
            return replace(arith::ConstantOp::create(
                builder, loc, builder.getIntegerAttr(op.getType(), bytes)));
          })
          .Case([&](tptr::IntToPtrOp op) {
            return replace(resize(builder, loc, op.getArg(), i64,
                                  /*isSigned=*/false));
          })
          .Case([&](tptr::PtrToIntOp op) {
            return replace(resize(builder, loc, addressOf(builder, op.getArg()),
                                  getElementTypeOrSelf(op.getRes().getType()),
                                  /*isSigned=*/false));
          })
          .Case([&](ours::PtrAddOp op) { return lowerAdd(op, builder); })
          .Case([&](ours::PtrDiffOp op) {
            Value bytes = arith::SubIOp::create(
                builder, loc, addressOf(builder, op.getLhs()),
                addressOf(builder, op.getRhs()));
            return replace(
                resize(builder, loc, bytes,
                       getElementTypeOrSelf(op.getResult().getType()),
                       /*isSigned=*/true));
          })
          .Case<ours::ToPtrOp, ours::FromPtrOp, ours::GetMetadataOp,
                tptr::FromPtrOp>([](Operation *op) { return lowerCast(op); })
          .Case<ours::LoadOp, ours::StoreOp>(
              [](Operation *op) { return lowerAccess(op); })
          .Default(
              [](Operation *op) { return op->emitOpError("has no lowering"); });
  if (succeeded(done))
    op->erase();
  return done;
}
