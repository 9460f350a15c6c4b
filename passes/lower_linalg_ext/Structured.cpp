// SPDX-License-Identifier: Apache-2.0
//
// Lowers pad, make_range, flip and scan of linalg_ext, and the products of
// math_ext. Operations on memrefs become operations on tensors first.

#include "Lowering.h"

#include "Arrays.h"
#include "OnTensors.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "triton_ext/InlineBody.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

namespace {

//===----------------------------------------------------------------------===//
// pad, make_range, flip
//===----------------------------------------------------------------------===//

/// Creates a tensor whose elements the body computes from those of the input.
Value mapBody(OpBuilder &builder, Location loc, Value input, Region &body) {
  auto yield = cast<linalg_ext::YieldOp>(body.front().back());
  if (yield.getOperand(0) == body.getArgument(0))
    return input;
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, input),
      yield.getOperand(0).getType());
  auto map = linalg::MapOp::create(
      builder, loc, input, init,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(
            inner, loc, inlineBody(inner, body, arguments.take_front(1)));
      });
  return map->getResult(0);
}

struct PadPattern : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    Location loc = op.getLoc();
    Value whole =
        linalg::FillOp::create(rewriter, loc, op.getPvalue(), op.getInit())
            .getResult(0);
    Value inner = mapBody(rewriter, loc, op.getInput(), op.getBody());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, inner);
    SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
    // Of an insertion of several lines alone, bufferization makes a
    // memref.copy, which stock MLIR turns into a call that copies element by
    // element.
    if (sizes.size() > 1) {
      Value place = tensor::ExtractSliceOp::create(
          rewriter, loc, whole, op.getMixedLow(), sizes, ones);
      inner = linalg::CopyOp::create(rewriter, loc, inner, place)->getResult(0);
    }
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, inner, whole, op.getMixedLow(), sizes, ones);
    return success();
  }
};

struct MakeRangePattern : OpRewritePattern<MakeRangeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MakeRangeOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    auto map = linalg::MapOp::create(
        rewriter, op.getLoc(), ValueRange(), op.getInit(),
        [&](OpBuilder &builder, Location loc, ValueRange output) {
          Value inputs[] = {op.getStart(), op.getEnd(), output.front()};
          linalg::YieldOp::create(builder, loc,
                                  inlineBody(builder, op.getRegion(), inputs));
        });
    rewriter.replaceOp(op, map->getResults());
    return success();
  }
};

struct FlipPattern : OpRewritePattern<FlipOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FlipOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    Location loc = op.getLoc();
    int64_t flipped = op.getDimension();
    Values sizes = sizesOf(rewriter, loc, op.getInput());
    Value last = arith::SubIOp::create(rewriter, loc, sizes[flipped],
                                       indexConstant(rewriter, loc, 1));
    auto map = linalg::MapOp::create(
        rewriter, loc, ValueRange(), op.getInit(),
        [&](OpBuilder &builder, Location loc, ValueRange) {
          Values indices;
          for (int64_t dim = 0, rank = sizes.size(); dim < rank; ++dim)
            indices.push_back(linalg::IndexOp::create(builder, loc, dim));
          indices[flipped] =
              arith::SubIOp::create(builder, loc, last, indices[flipped]);
          linalg::YieldOp::create(
              builder, loc, loadFrom(builder, loc, op.getInput(), indices));
        });
    rewriter.replaceOp(op, map->getResults());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

/// One line along the dimension of a scan. Its state is the outputs, followed
/// by the accumulators.
struct Line {
  ScanOp op;
  Value size;
  Values outer;

  size_t count() { return op.getInputs().size(); }

  Values indicesOf(OpBuilder &builder, Location loc, Value step) {
    if (cast<ShapedType>(op.getInputs().front().getType()).getRank() == 0)
      return {};
    if (op.getReverse()) {
      Value last = arith::SubIOp::create(builder, loc, size,
                                         indexConstant(builder, loc, 1));
      step = arith::SubIOp::create(builder, loc, last, step);
    }
    Values indices(outer);
    indices.insert(indices.begin() + op.getDimension(), step);
    return indices;
  }

  /// Clones the body with the elements at `indices` and the state. Returns what
  /// it yields.
  Values combine(OpBuilder &builder, Location loc, ValueRange indices,
                 Values elements, ValueRange state, bool isFirst) {
    if (op.isCarried()) {
      for (auto [output, argument] :
           llvm::zip_first(state.take_front(count()),
                           op.getBody().getArguments().drop_front(count())))
        // An output's element is read only if the body uses it.
        elements.push_back(argument.use_empty()
                               ? elements[elements.size() - count()]
                               : loadFrom(builder, loc, output, indices));
      llvm::append_range(elements, state.drop_front(count()));
      return inlineBody(builder, op.getBody(), elements);
    }
    if (!isFirst) {
      Values arguments(state.drop_front(count()));
      arguments.append(elements);
      elements = inlineBody(builder, op.getBody(), arguments);
    }
    elements.append(Values(elements));
    return elements;
  }

  /// Handles element number `step`.
  Values advance(OpBuilder &builder, Location loc, Value step, ValueRange state,
                 bool isFirst) {
    Values indices = indicesOf(builder, loc, step), elements;
    for (Value input : op.getInputs())
      elements.push_back(loadFrom(builder, loc, input, indices));
    Values next = combine(builder, loc, indices, elements, state, isFirst);
    for (size_t i = 0; i < count(); ++i)
      next[i] = storeInto(builder, loc, next[i], state[i], indices);
    return next;
  }
};

struct ScanPattern : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOnTensors(op))
      return failure();
    Location loc = op.getLoc();
    Values sizes = sizesOf(rewriter, loc, op.getInputs().front());
    Value one = indexConstant(rewriter, loc, 1);
    Value size = one;
    if (!sizes.empty()) {
      size = sizes[op.getDimension()];
      sizes.erase(sizes.begin() + op.getDimension());
    }
    // A line may be empty.
    Value firstEnd = arith::MinSIOp::create(rewriter, loc, one, size);
    Value zero = indexConstant(rewriter, loc, 0);
    Values results = loopNest(
        rewriter, loc, sizes, op.getInits(),
        [&](OpBuilder &builder, Location loc, ValueRange outer,
            ValueRange outputs) {
          Line line{op, size, Values(outer)};
          ValueRange carried = outputs.drop_front(line.count());
          Values state(outputs.take_front(line.count()));
          for (Value init : carried)
            state.push_back(loadFrom(builder, loc, init, outer));
          for (size_t i = carried.size(); i < line.count(); ++i)
            state.push_back(arith::ConstantOp::create(
                builder, loc,
                builder.getZeroAttr(
                    getElementTypeOrSelf(op.getInputs()[i].getType()))));
          for (bool isFirst : {true, false})
            state = loop(builder, loc, isFirst ? zero : one,
                         isFirst ? firstEnd : size, state,
                         [&](OpBuilder &inner, Location loc, ValueRange step,
                             ValueRange state) {
                           return line.advance(inner, loc, step.front(), state,
                                               isFirst);
                         });
          Values accumulators(ArrayRef(state).drop_front(line.count()));
          state.resize(line.count());
          for (auto [init, value] : llvm::zip_first(carried, accumulators))
            state.push_back(storeInto(builder, loc, value, init, outer));
          return state;
        });
    rewriter.replaceOp(op, results);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// math_ext
//===----------------------------------------------------------------------===//

struct MulhiUIPattern : OpRewritePattern<math_ext::MulhiUIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math_ext::MulhiUIOp op,
                                PatternRewriter &rewriter) const override {
    // arith.mului_extended has two results. It is not used here, because the
    // short form in which linalg.map prints a body of one operation cannot name
    // the second one.
    Location loc = op.getLoc();
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    unsigned width = element.getIntOrFloatBitWidth();
    Type wideElement = rewriter.getIntegerType(2 * width);
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type wide = tensor ? Type(tensor.clone(wideElement)) : wideElement;
    Value lhs = arith::ExtUIOp::create(rewriter, loc, wide, op.getLhs());
    Value rhs = arith::ExtUIOp::create(rewriter, loc, wide, op.getRhs());
    Value product = arith::MulIOp::create(rewriter, loc, lhs, rhs);
    TypedAttr amount = rewriter.getIntegerAttr(wideElement, width);
    if (tensor)
      amount = DenseElementsAttr::get(tensor.clone(wideElement),
                                      cast<IntegerAttr>(amount).getValue());
    Value shift = arith::ConstantOp::create(rewriter, loc, amount);
    Value high = arith::ShRUIOp::create(rewriter, loc, product, shift);
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, type, high);
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateStructuredPatterns(
    RewritePatternSet &patterns) {
  patterns.add<FlipPattern, MakeRangePattern, MulhiUIPattern, OnTensors<FlipOp>,
               OnTensors<HistogramOp>, OnTensors<LibdeviceCallOp>,
               OnTensors<MakeRangeOp>, OnTensors<PadOp>, OnTensors<ScanOp>,
               PadPattern, ScanPattern>(patterns.getContext());
}
