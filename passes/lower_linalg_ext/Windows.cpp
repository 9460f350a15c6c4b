// SPDX-License-Identifier: Apache-2.0
//
// Lowers operations on windows of images, and triangles, to linalg.generic,
// because linalg has no named operations for them.

#include "Lowering.h"

#include "OnTensors.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// Returns the index into an image of an element of a window: dimension `count`
/// counts windows, and dimension `inside` the elements of a window.
template <typename OpTy>
static AffineExpr position(OpTy op, int dim, unsigned count, unsigned inside) {
  MLIRContext *context = op.getContext();
  return getAffineDimExpr(count, context) * op.getStrides()[dim] +
         getAffineDimExpr(inside, context) * op.getDilations()[dim];
}

/// Creates a generic operation whose last `numReductions` dimensions are
/// reductions.
template <typename OpTy>
static void replaceByGeneric(
    OpTy op, ValueRange inputs, unsigned numDims, unsigned numReductions,
    ArrayRef<SmallVector<AffineExpr>> indices, PatternRewriter &rewriter,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> exprs : indices)
    maps.push_back(AffineMap::get(numDims, 0, exprs, op.getContext()));
  SmallVector<utils::IteratorType> iterators(numDims,
                                             utils::IteratorType::parallel);
  std::fill(iterators.end() - numReductions, iterators.end(),
            utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getInit().getType(), inputs, op.getInit(), maps,
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(builder, loc, body(builder, loc, arguments));
      });
  rewriter.replaceOp(op, generic->getResults());
}

static SmallVector<AffineExpr> dims(ArrayRef<unsigned> numbers,
                                    MLIRContext *context) {
  SmallVector<AffineExpr> result;
  for (unsigned number : numbers)
    result.push_back(getAffineDimExpr(number, context));
  return result;
}

namespace {

struct BatchConvPattern : OpRewritePattern<BatchConv2DNhwcFhwcOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchConv2DNhwcFhwcOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    enum : unsigned { b, n, y, x, f, h, w, c };
    SmallVector<AffineExpr> image = dims({b, n, y, x, c}, getContext());
    image[2] = position(op, 0, y, h);
    image[3] = position(op, 1, x, w);
    replaceByGeneric(
        op, {op.getImage(), op.getFilter()}, 8, 3,
        {image, dims({b, f, h, w, c}, getContext()),
         dims({b, n, y, x, f}, getContext())},
        rewriter,
        [](OpBuilder &builder, Location loc, ValueRange arguments) -> Value {
          Value sum = arguments[2];
          Value lhs = extend(builder, loc, arguments[0], sum.getType());
          Value rhs = extend(builder, loc, arguments[1], sum.getType());
          if (isa<FloatType>(sum.getType()))
            return arith::AddFOp::create(
                builder, loc, sum,
                arith::MulFOp::create(builder, loc, lhs, rhs));
          return arith::AddIOp::create(
              builder, loc, sum, arith::MulIOp::create(builder, loc, lhs, rhs));
        });
    return success();
  }

  static Value extend(OpBuilder &builder, Location loc, Value value,
                      Type type) {
    if (value.getType() == type)
      return value;
    if (isa<FloatType>(type))
      return arith::ExtFOp::create(builder, loc, type, value);
    return arith::ExtSIOp::create(builder, loc, type, value);
  }
};

struct Im2ColPattern : OpRewritePattern<Im2ColOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(Im2ColOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    enum : unsigned { n, y, x, h, w, c };
    SmallVector<AffineExpr> image = dims({n, y, x, c}, getContext());
    image[1] = position(op, 0, y, h);
    image[2] = position(op, 1, x, w);
    replaceByGeneric(op, op.getImage(), 6, 0,
                     {image, dims({n, y, x, h, w, c}, getContext())}, rewriter,
                     [](OpBuilder &, Location, ValueRange arguments) {
                       return arguments[0];
                     });
    return success();
  }
};

template <typename OpTy, typename Combiner>
struct PoolingPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    enum : unsigned { n, y, x, c, h, w };
    MLIRContext *context = op.getContext();
    SmallVector<AffineExpr> image = dims({n, y, x, c}, context);
    image[1] = position(op, 0, y, h);
    image[2] = position(op, 1, x, w);
    replaceByGeneric(
        op, {op.getImage(), op.getWindow()}, 6, 2,
        {image, dims({h, w}, context), dims({n, y, x, c}, context)}, rewriter,
        [](OpBuilder &builder, Location loc, ValueRange arguments) -> Value {
          return Combiner::create(builder, loc, arguments[2], arguments[0]);
        });
    return success();
  }
};

struct TriPattern : OpRewritePattern<TriOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TriOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    Location loc = op.getLoc();
    Type element = getElementTypeOrSelf(op.getInit().getType());
    auto number = [&](int64_t value) -> Value {
      TypedAttr attribute =
          isa<FloatType>(element)
              ? TypedAttr(rewriter.getFloatAttr(element, value))
              : TypedAttr(rewriter.getIntegerAttr(element, value));
      return arith::ConstantOp::create(rewriter, loc, attribute);
    };
    Value one = number(1), zero = number(0);
    replaceByGeneric(
        op, ValueRange(), 2, 0, {dims({0, 1}, getContext())}, rewriter,
        [&](OpBuilder &builder, Location loc, ValueRange) -> Value {
          Value last = arith::AddIOp::create(
              builder, loc, linalg::IndexOp::create(builder, loc, 0),
              op.getDiagonal());
          Value isBelow = arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::sle,
              linalg::IndexOp::create(builder, loc, 1), last);
          return arith::SelectOp::create(builder, loc, isBelow, one, zero);
        });
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateWindowPatterns(
    RewritePatternSet &patterns) {
  patterns
      .add<BatchConvPattern, Im2ColPattern, OnTensors<BatchConv2DNhwcFhwcOp>,
           OnTensors<Im2ColOp>, OnTensors<PoolingNhwcMaxNanOp>,
           OnTensors<PoolingNhwcMinNanOp>, OnTensors<TriOp>,
           PoolingPattern<PoolingNhwcMaxNanOp, arith::MaximumFOp>,
           PoolingPattern<PoolingNhwcMinNanOp, arith::MinimumFOp>, TriPattern>(
          patterns.getContext());
}
