// SPDX-License-Identifier: Apache-2.0
//
// Lowers aux.bitcast_ext, also between elements of different widths.

#include "Lowering.h"

#include "Arrays.h"
#include "aux/Aux.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

static Value castScalar(OpBuilder &builder, Location loc, Value value,
                        Type to) {
  Type i64 = builder.getI64Type();
  bool toPointer = isa<LLVM::LLVMPointerType>(to);
  if (isa<LLVM::LLVMPointerType>(value.getType())) {
    value = LLVM::PtrToIntOp::create(builder, loc, i64, value);
  }
  Type wanted = toPointer ? i64 : to;
  if (value.getType() != wanted)
    value = arith::BitcastOp::create(builder, loc, wanted, value);
  if (toPointer)
    value = LLVM::IntToPtrOp::create(builder, loc, to, value);
  return value;
}

/// Returns the bits of an element as an integer of this width.
static Value toBits(OpBuilder &builder, Location loc, Value value,
                    unsigned width) {
  return castScalar(builder, loc, value, builder.getIntegerType(width));
}

/// Returns an element of a cast between two widths: narrow elements put
/// together, or a part of a wide one. `indices` are those in the result.
static Value castElement(OpBuilder &builder, Location loc, aux::BitcastExtOp op,
                         Values indices) {
  auto [from, to] = op.getWidths();
  bool isToWide = from < to;
  unsigned narrow = std::min(from, to);
  Type wide = builder.getIntegerType(std::max(from, to));
  Value factor = indexConstant(builder, loc, std::max(from, to) / narrow);
  auto distance = [&](Value part) {
    Value number = arith::IndexCastOp::create(builder, loc, wide, part);
    Value bits = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(wide, narrow));
    return arith::MulIOp::create(builder, loc, number, bits);
  };
  Type element = getElementTypeOrSelf(op.getType());
  Value last = indices.back();
  if (!isToWide) {
    indices.back() = arith::DivUIOp::create(builder, loc, last, factor);
    Value bits = toBits(builder, loc,
                        loadFrom(builder, loc, op.getValue(), indices), from);
    Value part = arith::RemUIOp::create(builder, loc, last, factor);
    bits = arith::ShRUIOp::create(builder, loc, bits, distance(part));
    bits =
        arith::TruncIOp::create(builder, loc, builder.getIntegerType(to), bits);
    return castScalar(builder, loc, bits, element);
  }
  Value first = arith::MulIOp::create(builder, loc, last, factor), bits;
  for (unsigned part = 0; part < to / from; ++part) {
    Value number = indexConstant(builder, loc, part);
    indices.back() = arith::AddIOp::create(builder, loc, first, number);
    Value read = toBits(builder, loc,
                        loadFrom(builder, loc, op.getValue(), indices), from);
    read = arith::ExtUIOp::create(builder, loc, wide, read);
    read = arith::ShLIOp::create(builder, loc, read, distance(number));
    bits = bits ? arith::OrIOp::create(builder, loc, bits, read) : read;
  }
  return castScalar(builder, loc, bits, element);
}

namespace {

struct BitcastPattern : OpRewritePattern<aux::BitcastExtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(aux::BitcastExtOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type) {
      rewriter.replaceOp(op, castScalar(rewriter, loc, op.getValue(),
                                        op.getResult().getType()));
      return success();
    }
    ReifiedRankedShapedTypeDims shapes;
    if (failed(op.reifyResultShapes(rewriter, shapes)))
      return failure();
    Value init = tensor::EmptyOp::create(rewriter, loc, shapes.front(),
                                         type.getElementType());
    auto [from, to] = op.getWidths();
    bool isSameWidth = from == to;
    auto map = linalg::MapOp::create(
        rewriter, loc, isSameWidth ? ValueRange(op.getValue()) : ValueRange(),
        init, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          if (!isSameWidth) {
            Values indices;
            for (int64_t dim = 0; dim < type.getRank(); ++dim)
              indices.push_back(linalg::IndexOp::create(builder, loc, dim));
            linalg::YieldOp::create(builder, loc,
                                    castElement(builder, loc, op, indices));
            return;
          }
          linalg::YieldOp::create(
              builder, loc,
              castScalar(builder, loc, arguments[0], type.getElementType()));
        });
    rewriter.replaceOp(op, map->getResults());
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateCastPatterns(
    RewritePatternSet &patterns) {
  patterns.add<BitcastPattern>(patterns.getContext());
}
