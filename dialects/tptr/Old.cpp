// SPDX-License-Identifier: Apache-2.0
//
// Operations of older versions of triton-shared: their verifiers, and the
// operations that take their places.

#include "Tptr.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::triton_ext::tptr;
namespace ours = mlir::triton_ext::ptr;

LogicalResult OldTypeOffsetOp::verify() {
  if (ours::TypeOffsetOp::bytesOf(getBaseType()))
    return success();
  return emitOpError() << "expected the type of a number or of a pointer, got "
                       << getBaseType();
}

LogicalResult OldPtrAddOp::verify() {
  if (getBase().getType() == getResult().getType())
    return success();
  return emitOpError() << "expected a result of the type of the base, got "
                       << getResult().getType() << " for "
                       << getBase().getType();
}

LogicalResult OldFromMemrefOp::verify() {
  Type element = cast<BaseMemRefType>(getInput().getType()).getElementType();
  if (ours::TypeOffsetOp::bytesOf(element))
    return success();
  return emitOpError()
         << "expected a memref of numbers or of pointers, got one of "
         << element;
}

LogicalResult OldToMemrefOp::verify() {
  auto type = cast<MemRefType>(getRes().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  // The mark of an offset that is not known is negative.
  if (failed(type.getStridesAndOffset(strides, offset)) || offset < 0 ||
      ShapedType::isDynamicShape(strides))
    return emitOpError() << "expected a memref of known strides and a known "
                            "offset of 0 or more, got "
                         << type;
  return success();
}

LogicalResult OldIntToPtrOp::canonicalize(OldIntToPtrOp op,
                                          PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<IntToPtrOp>(op, op.getType(), op.getArg());
  return success();
}

LogicalResult OldPtrToIntOp::canonicalize(OldPtrToIntOp op,
                                          PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<PtrToIntOp>(op, op.getType(), op.getArg());
  return success();
}

LogicalResult OldTypeOffsetOp::canonicalize(OldTypeOffsetOp op,
                                            PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<ours::TypeOffsetOp>(op, op.getType(),
                                                  op.getBaseTypeAttr());
  return success();
}

LogicalResult OldPtrAddOp::canonicalize(OldPtrAddOp op,
                                        PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<ours::PtrAddOp>(op, op.getBase(), op.getOffset(),
                                              ours::PtrAddFlags::none);
  return success();
}

/// Returns the type of the same memref in the memory space of a pointer.
static MemRefType inSpaceOf(ours::PtrType pointer, MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         type.getLayout(), pointer.getMemorySpace());
}

static Value castSpace(OpBuilder &builder, Location loc, Value memref,
                       MemRefType type) {
  if (memref.getType() == type)
    return memref;
  return memref::MemorySpaceCastOp::create(builder, loc, type, memref);
}

LogicalResult OldFromMemrefOp::canonicalize(OldFromMemrefOp op,
                                            PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value memref = op.getInput();
  if (auto unranked = dyn_cast<UnrankedMemRefType>(memref.getType()))
    memref = memref::CastOp::create(
        rewriter, loc,
        MemRefType::get({1}, unranked.getElementType(),
                        MemRefLayoutAttrInterface(), unranked.getMemorySpace()),
        memref);
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t known;
  (void)type.getStridesAndOffset(strides, known);
  Value pointer = ours::ToPtrOp::create(
      rewriter, loc, op.getType(),
      castSpace(rewriter, loc, memref, inSpaceOf(op.getType(), type)));
  if (known != 0) {
    Value offset =
        memref::ExtractStridedMetadataOp::create(rewriter, loc, memref)
            .getOffset();
    Value size = ours::TypeOffsetOp::create(
        rewriter, loc, rewriter.getIndexType(), type.getElementType());
    offset = arith::MulIOp::create(rewriter, loc, offset, size);
    pointer = ours::PtrAddOp::create(rewriter, loc, pointer, offset,
                                     ours::PtrAddFlags::none);
  }
  rewriter.replaceOp(op, pointer);
  return success();
}

LogicalResult OldToMemrefOp::canonicalize(OldToMemrefOp op,
                                          PatternRewriter &rewriter) {
  auto type = cast<MemRefType>(op.getRes().getType());
  ours::PtrType pointer = op.getArg().getType();
  Value memref = FromPtrOp::create(rewriter, op.getLoc(),
                                   inSpaceOf(pointer, type), op.getArg(),
                                   /*metadata=*/Value());
  rewriter.replaceOp(op, castSpace(rewriter, op.getLoc(), memref, type));
  return success();
}
