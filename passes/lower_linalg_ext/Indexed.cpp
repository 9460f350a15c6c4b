// SPDX-License-Identifier: Apache-2.0
//
// Lowers the operations of linalg_ext that take indices: gather, scatter,
// histogram and atomics. They access no memory where the mask is false.

#include "Lowering.h"

#include "Arrays.h"
#include "Atomics.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "triton_ext/InlineBody.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// Returns the indices in the array of one element: the element at position
/// `window` in the window at position `batch`.
template <typename OpTy>
static Values indicesOf(OpBuilder &builder, Location loc, OpTy op,
                        ValueRange batch, ValueRange window) {
  Values result(window);
  for (auto [k, dim] : llvm::enumerate(op.getDimensionMap())) {
    Values where(batch);
    where.push_back(indexConstant(builder, loc, k));
    Value start =
        toIndex(builder, loc, loadFrom(builder, loc, op.getIndices(), where),
                op.getSignedIndice());
    result[dim] = arith::AddIOp::create(builder, loc, start, window[dim]);
  }
  return result;
}

template <typename OpTy> static size_t batchRank(OpTy op) {
  return cast<ShapedType>(op.getIndices().getType()).getRank() - 1;
}

namespace {

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

struct GatherPattern : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value init = op.getInit();
    auto type = cast<ShapedType>(init.getType());
    auto map = AffineMap::getMultiDimIdentityMap(type.getRank(), getContext());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto body = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
      Values indices;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        indices.push_back(linalg::IndexOp::create(builder, loc, dim));
      linalg::YieldOp::create(
          builder, loc, elementAt(builder, loc, op, indices, arguments[0]));
    };
    Operation *made;
    if (isa<MemRefType>(type))
      made = linalg::GenericOp::create(rewriter, loc, ValueRange(), init, map,
                                       iterators, body);
    else
      made = linalg::GenericOp::create(rewriter, loc, type, ValueRange(), init,
                                       map, iterators, body);
    rewriter.replaceOp(op, made->getResults());
    return success();
  }

  /// Returns the element of the result at `indices`, or `old` if the mask is
  /// false there.
  static Values elementAt(OpBuilder &builder, Location loc, GatherOp op,
                          ArrayRef<Value> indices, Value old) {
    ArrayRef<Value> batch = indices.take_front(batchRank(op));
    ArrayRef<Value> window = indices.drop_front(batchRank(op));
    Value mask;
    if (op.getMask())
      mask = loadFrom(builder, loc, op.getMask(), batch);
    return ifTrue(builder, loc, mask, old,
                  [&](OpBuilder &inner, Location loc, ValueRange) {
                    // Read from memory itself: a tensor of all of it must
                    // never be copied.
                    Value read =
                        loadFrom(inner, loc, memoryOf(op.getInput()),
                                 indicesOf(inner, loc, op, batch, window));
                    return inlineBody(inner, op.getBody(), {read, old});
                  });
  }
};

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

struct ScatterPattern : OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScatterOp op,
                                PatternRewriter &rewriter) const override {
    Values sizes = sizesOf(rewriter, op.getLoc(), op.getUpdate());
    ArrayRef<Value> all = sizes;
    Values results = loopNest(
        rewriter, op.getLoc(), all.take_front(batchRank(op)), op.getInit(),
        [&](OpBuilder &builder, Location loc, ValueRange batch,
            ValueRange array) {
          Value mask;
          if (op.getMask())
            mask = loadFrom(builder, loc, op.getMask(), batch);
          return ifTrue(builder, loc, mask, array,
                        [&](OpBuilder &inner, Location loc, ValueRange array) {
                          return writeWindow(inner, loc, op, batch,
                                             all.drop_front(batchRank(op)),
                                             array);
                        });
        });
    rewriter.replaceOp(op, op.getResult() ? ValueRange(results) : ValueRange());
    return success();
  }

  static Values writeWindow(OpBuilder &builder, Location loc, ScatterOp op,
                            ValueRange batch, ValueRange sizes,
                            ValueRange array) {
    bool usesOld = !op.getBody().getArgument(1).use_empty();
    return loopNest(
        builder, loc, sizes, array,
        [&](OpBuilder &inner, Location loc, ValueRange window,
            ValueRange array) -> Values {
          Values from(batch);
          from.append(window.begin(), window.end());
          Value update = loadFrom(inner, loc, op.getUpdate(), from);
          Values to = indicesOf(inner, loc, op, batch, window);
          // The old element is read only if the body uses it.
          Value old =
              usesOld ? loadFrom(inner, loc, array.front(), to) : update;
          Values made = inlineBody(inner, op.getBody(), {update, old});
          return {storeInto(inner, loc, made.front(), array.front(), to)};
        });
  }
};

//===----------------------------------------------------------------------===//
// histogram
//===----------------------------------------------------------------------===//

struct HistogramPattern : OpRewritePattern<HistogramOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(HistogramOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<MemRefType>(op.getInit().getType()))
      return failure();
    Location loc = op.getLoc();
    Value count = sizesOf(rewriter, loc, op.getInit()).front();
    Values results = loopNest(
        rewriter, loc, sizesOf(rewriter, loc, op.getInput()), op.getInit(),
        [&](OpBuilder &builder, Location loc, ValueRange indices,
            ValueRange bins) {
          Value number = loadFrom(builder, loc, op.getInput(), indices);
          Value counts = isBelow(builder, loc, number, count);
          if (op.getMask())
            counts = arith::AndIOp::create(
                builder, loc, counts,
                loadFrom(builder, loc, op.getMask(), indices));
          return ifTrue(builder, loc, counts, bins,
                        [&](OpBuilder &inner, Location loc, ValueRange bins) {
                          return addOne(inner, loc, bins.front(), number);
                        });
        });
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Returns whether the number, read as unsigned, is less than the index.
  static Value isBelow(OpBuilder &builder, Location loc, Value number,
                       Value index) {
    unsigned width = number.getType().getIntOrFloatBitWidth();
    Type wide = builder.getIntegerType(std::max(width, 64u));
    if (width < 64)
      number = arith::ExtUIOp::create(builder, loc, wide, number);
    Value limit = arith::IndexCastUIOp::create(builder, loc, wide, index);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                 number, limit);
  }

  static Values addOne(OpBuilder &builder, Location loc, Value bins,
                       Value number) {
    Value index = toIndex(builder, loc, number, /*isSigned=*/false);
    Value old = loadFrom(builder, loc, bins, index);
    Value one = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(old.getType(), 1));
    Value sum = arith::AddIOp::create(builder, loc, old, one);
    return {storeInto(builder, loc, sum, bins, index)};
  }
};

//===----------------------------------------------------------------------===//
// gather_atomic_rmw, gather_atomic_cas
//===----------------------------------------------------------------------===//

/// Changes the element of memory at `index` atomically and returns its previous
/// value.
using AtomicBody = llvm::function_ref<Value(
    OpBuilder &, Location, ValueRange where, Value memory, Value index)>;

} // namespace

/// Lowers to a loop of atomics on one element each. They ignore the operation's
/// memory order: they are acquire-release, which is at least as strong.
template <typename OpTy>
static void lowerAtomic(OpTy op, Value mask, PatternRewriter &rewriter,
                        AtomicBody body) {
  Location loc = op.getLoc();
  Value memory = memoryToChange(rewriter, loc, op.getMemory());
  Values sizes = sizesOf(rewriter, loc, op.getIndices());
  Values results = loopNest(
      rewriter, loc, sizes, op.getInit(),
      [&](OpBuilder &builder, Location loc, ValueRange where,
          ValueRange array) {
        Value condition;
        if (mask)
          condition = toCondition(
              builder, loc, loadFrom(builder, loc, mask, where.take_front(1)));
        return ifTrue(
            builder, loc, condition, array,
            [&](OpBuilder &inner, Location loc, ValueRange array) -> Values {
              Value index = toIndex(
                  inner, loc, loadFrom(inner, loc, op.getIndices(), where),
                  /*isSigned=*/true);
              Value old = body(inner, loc, where, memory, index);
              return {storeInto(inner, loc, old, array.front(), where)};
            });
      });
  replaceAtomic(op, op.getMemory(), memory, results, rewriter);
}

namespace {

struct AtomicRMWPattern : OpRewritePattern<GatherAtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherAtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    arith::AtomicRMWKind kind = *arith::symbolizeAtomicRMWKind(op.getKind());
    lowerAtomic(op, op.getMask(), rewriter,
                [&](OpBuilder &builder, Location loc, ValueRange where,
                    Value memory, Value index) -> Value {
                  Value value = loadFrom(builder, loc, op.getValue(), where);
                  return memref::AtomicRMWOp::create(builder, loc, kind, value,
                                                     memory, index);
                });
    return success();
  }
};

struct AtomicCASPattern : OpRewritePattern<GatherAtomicCASOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherAtomicCASOp op,
                                PatternRewriter &rewriter) const override {
    lowerAtomic(
        op, Value(), rewriter,
        [&](OpBuilder &builder, Location loc, ValueRange where, Value memory,
            Value index) -> Value {
          Value expected = loadFrom(builder, loc, op.getExpected(), where);
          Value value = loadFrom(builder, loc, op.getValue(), where);
          return exchangeIfSame(builder, loc, memory, index, expected, value);
        });
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateIndexedPatterns(
    RewritePatternSet &patterns) {
  patterns.add<AtomicCASPattern, AtomicRMWPattern, GatherPattern,
               HistogramPattern, ScatterPattern>(patterns.getContext());
}
