// SPDX-License-Identifier: Apache-2.0
//
// linalg_ext's atomics on what lies evenly: one after the other, as those of
// memref. The memory orders that have a name are not stronger than theirs.

#include "Atomics.h"

#include "Arrays.h"
#include "Lowering.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// The integer with these bits.
static Value bitsOf(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<FloatType>(value.getType());
  if (!type)
    return value;
  return arith::BitcastOp::create(
      builder, loc, builder.getIntegerType(type.getWidth()), value);
}

Value mlir::triton_ext::lower_linalg_ext::exchangeIfSame(
    OpBuilder &builder, Location loc, Value memory, ValueRange indices,
    Value expected, Value value) {
  auto exchange =
      memref::GenericAtomicRMWOp::create(builder, loc, memory, indices);
  OpBuilder inner = OpBuilder::atBlockEnd(exchange.getBody());
  Value current = exchange.getCurrentValue();
  Value same = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq,
                                     bitsOf(inner, loc, current),
                                     bitsOf(inner, loc, expected));
  Value next = arith::SelectOp::create(inner, loc, same, value, current);
  memref::AtomicYieldOp::create(inner, loc, next);
  return exchange.getResult();
}

namespace {

struct AtomicRMWPattern : OpRewritePattern<AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    arith::AtomicRMWKind kind = *arith::symbolizeAtomicRMWKind(op.getKind());
    Values results =
        loopNest(rewriter, op.getLoc(),
                 sizesOf(rewriter, op.getLoc(), op.getMemory()), op.getInit(),
                 [&](OpBuilder &builder, Location loc, ValueRange where,
                     ValueRange array) -> Values {
                   Value value = loadFrom(builder, loc, op.getValue(), where);
                   Value old = memref::AtomicRMWOp::create(
                       builder, loc, kind, value, op.getMemory(), where);
                   return {storeInto(builder, loc, old, array.front(), where)};
                 });
    rewriter.replaceOp(op, op.getResult() ? ValueRange(results) : ValueRange());
    return success();
  }
};

struct AtomicCASPattern : OpRewritePattern<AtomicCASOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AtomicCASOp op,
                                PatternRewriter &rewriter) const override {
    Values results =
        loopNest(rewriter, op.getLoc(),
                 sizesOf(rewriter, op.getLoc(), op.getMemory()), op.getInit(),
                 [&](OpBuilder &builder, Location loc, ValueRange where,
                     ValueRange array) -> Values {
                   Value old = exchangeIfSame(
                       builder, loc, op.getMemory(), where,
                       loadFrom(builder, loc, op.getExpected(), where),
                       loadFrom(builder, loc, op.getValue(), where));
                   return {storeInto(builder, loc, old, array.front(), where)};
                 });
    rewriter.replaceOp(op, op.getResult() ? ValueRange(results) : ValueRange());
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateAtomicPatterns(
    RewritePatternSet &patterns) {
  patterns.add<AtomicCASPattern, AtomicRMWPattern>(patterns.getContext());
}
