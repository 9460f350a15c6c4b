// SPDX-License-Identifier: Apache-2.0
//
// Lowers the operations of aux on memory: views of pointers become memrefs, and
// loads of views become copies of memory.

#include "Lowering.h"

#include "Arrays.h"
#include "aux/Aux.h"
#include "linalg_ext/MapElementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// Returns a memref without dimensions for the element that the pointer points
/// to.
static Value wrapPointer(OpBuilder &builder, Location loc, Value pointer,
                         Type element, Attribute space) {
  auto type = MemRefType::get({}, element, MemRefLayoutAttrInterface(), space);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext(),
                                                type.getMemorySpaceAsInt());
  if (pointer.getType() != pointerType)
    pointer = LLVM::AddrSpaceCastOp::create(builder, loc, pointerType, pointer);
  auto structType = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {pointerType, pointerType, builder.getI64Type()});
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                        builder.getI64IntegerAttr(0));
  Value descriptor = LLVM::PoisonOp::create(builder, loc, structType);
  Value fields[] = {pointer, pointer, zero};
  for (auto [position, value] : llvm::enumerate(fields))
    descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, value,
                                             int64_t(position));
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

/// Hides a null pointer from LLVM behind inline assembly. A view whose indices
/// are addresses begins at null, and LLVM assumes that an access relative to
/// null never happens.
static Value hideNull(OpBuilder &builder, Value pointer) {
  if (!pointer.getDefiningOp<LLVM::ZeroOp>())
    return pointer;
  Location loc = pointer.getLoc();
  Type i64 = builder.getI64Type();
  Value zero =
      LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(0));
  auto hidden = LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(i64), zero, /*asm_string=*/"",
      /*constraints=*/"=r,0", /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  return LLVM::IntToPtrOp::create(builder, loc, pointer.getType(),
                                  hidden.getResult(0));
}

bool mlir::triton_ext::lower_linalg_ext::isStoreOfLines(
    bufferization::MaterializeInDestinationOp op) {
  auto view = dyn_cast<MemRefType>(op.getDest().getType());
  return view && !view.areTrailingDimsContiguous(view.getRank());
}

namespace {

struct ViewPattern : OpRewritePattern<aux::ViewOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(aux::ViewOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getType();
    Value base = wrapPointer(rewriter, loc, hideNull(rewriter, op.getPtr()),
                             type.getElementType(), type.getMemorySpace());
    OpFoldResult offset = op.getMixedOffsets()[0];
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    SmallVector<OpFoldResult> strides = op.getMixedStrides();
    MemRefType exact = aux::viewTypeOf(type.getElementType(), offset, sizes,
                                       strides, type.getMemorySpace());
    Value view = memref::ReinterpretCastOp::create(rewriter, loc, exact, base,
                                                   offset, sizes, strides);
    // The type of a view may be dynamic where its operands are static.
    if (exact != type)
      view = memref::CastOp::create(rewriter, loc, type, view);
    rewriter.replaceOp(op, view);
    return success();
  }
};

struct StorePattern : OpRewritePattern<aux::StoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(aux::StoreOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<memref::StoreOp>(
        op, op.getValue(), op.getMemref(), op.getIndices());
    return success();
  }
};

/// Lowers a load to a copy of the memory at this point of the program, because
/// later operations may write to that memory.
struct LoadPattern : OpRewritePattern<linalg::CopyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::CopyOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto read = op.getInputs()[0].getDefiningOp<bufferization::ToTensorOp>();
    auto empty = op.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    auto type = dyn_cast<RankedTensorType>(op->getResultTypes().front());
    if (!read || !empty ||
        type.getElementType() != getElementTypeOrSelf(read.getType()))
      return failure();
    Value copy = memref::AllocOp::create(
        rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()),
        empty.getDynamicSizes());
    linalg::CopyOp::create(rewriter, loc, read.getBuffer(), copy);
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
        op, type, copy, /*restrict=*/true, /*writable=*/true);
    return success();
  }
};

/// Lowers a store to several lines of memory to loops. Bufferization would make
/// a memref.copy of it, which stock MLIR turns into a call of a function of its
/// runtime library that copies element by element. A store to one line becomes
/// a memcpy there, so it is left alone.
struct StoreTilePattern
    : OpRewritePattern<bufferization::MaterializeInDestinationOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(bufferization::MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!isStoreOfLines(op))
      return failure();
    int64_t rank = cast<MemRefType>(op.getDest().getType()).getRank();
    // The part of a tensor is a part of its buffer, which begins a line and
    // whose elements lie side by side.
    auto part = op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
    if (part &&
        (!part.hasUnitStride() || part.getSourceType().getRank() != rank))
      part = {};
    Value tensor = part ? part.getSource() : op.getSource();
    auto type = cast<RankedTensorType>(tensor.getType());
    Value buffer = bufferization::ToBufferOp::create(
        rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()),
        tensor, /*read_only=*/true);
    if (part)
      buffer = memref::SubViewOp::create(
          rewriter, loc, buffer, part.getMixedOffsets(), part.getMixedSizes(),
          part.getMixedStrides());
    rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, buffer, op.getDest());
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// optimization_barrier
//===----------------------------------------------------------------------===//

/// Returns a value that inline assembly can take in a register: the bits of a
/// scalar or the address of an array. Returns null for other types.
static Value toRegister(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    value = bufferization::ToBufferOp::create(
        builder, loc,
        MemRefType::get(tensor.getShape(), tensor.getElementType()), value,
        /*read_only=*/true);
    type = value.getType();
  }
  if (isa<MemRefType>(type)) {
    value = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, value);
    type = value.getType();
  }
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      value);
  if (auto number = dyn_cast<FloatType>(type))
    return arith::BitcastOp::create(
        builder, loc, builder.getIntegerType(number.getWidth()), value);
  if (isa<IntegerType, LLVM::LLVMPointerType>(type))
    return value;
  return {};
}

namespace {

struct BarrierPattern : OpRewritePattern<aux::OptimizationBarrierOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(aux::OptimizationBarrierOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value bits = toRegister(rewriter, loc, op.getValue());
    if (!bits)
      return rewriter.notifyMatchFailure(op, "its operand fits no register");
    LLVM::InlineAsmOp::create(
        rewriter, loc, TypeRange(), bits, /*asm_string=*/"",
        /*constraints=*/"r,~{memory}", /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr(), ArrayAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateMemoryPatterns(
    RewritePatternSet &patterns) {
  patterns.add<BarrierPattern, LoadPattern, StorePattern, StoreTilePattern,
               ViewPattern>(patterns.getContext());
}
