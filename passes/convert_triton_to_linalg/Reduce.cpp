// SPDX-License-Identifier: Apache-2.0
//
// Converts reductions, scans and histograms.

#include "Builders.h"
#include "Conversion.h"

#include "linalg_ext/LinalgExt.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/InlineBody.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

namespace {

/// Returns the identity of a combiner, or null if there is none. The identity
/// of floating-point addition is -0.0, because 0.0 + -0.0 is 0.0.
/// Floating-point maximum and minimum have none here, because infinity is not
/// neutral if all elements are NaN.
static TypedAttr getIdentity(Operation *combiner, Builder &builder) {
  Type type = combiner->getResult(0).getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto integer = [&](APInt value) -> TypedAttr {
    return builder.getIntegerAttr(type, value);
  };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case([&](arith::AddFOp) { return builder.getFloatAttr(type, -0.0); })
      .Case([&](arith::MulFOp) { return builder.getFloatAttr(type, 1.0); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return integer(APInt::getZero(bits)); })
      .Case([&](arith::MulIOp) { return integer(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](Operation *) { return integer(APInt::getAllOnes(bits)); })
      .Case([&](arith::MaxSIOp) {
        return integer(APInt::getSignedMinValue(bits));
      })
      .Case([&](arith::MinSIOp) {
        return integer(APInt::getSignedMaxValue(bits));
      })
      .Default([](Operation *) { return TypedAttr(); });
}

/// A reduction of values and their indices to the largest or smallest value.
struct ArgCombiner {
  bool isMax, tieBreakLeft;
};

/// Returns whether `value` compares `lhs` with `rhs` by one of the predicates.
bool compares(Value value, Value lhs, Value rhs, arith::CmpIPredicate integer,
              arith::CmpFPredicate number) {
  auto matches = [&](auto compare, auto predicate) {
    return compare.getPredicate() == predicate && compare.getLhs() == lhs &&
           compare.getRhs() == rhs;
  };
  if (auto compare = value.getDefiningOp<arith::CmpIOp>())
    return matches(compare, integer);
  if (auto compare = value.getDefiningOp<arith::CmpFOp>())
    return matches(compare, number);
  return false;
}

/// Recognises the reductions of tl.argmax and tl.argmin, and of tl.max and
/// tl.min with indices.
std::optional<ArgCombiner> matchArgCombiner(tt::ReduceOp op) {
  using I = arith::CmpIPredicate;
  using F = arith::CmpFPredicate;
  if (op.getSrcs().size() != 2 || !op.getCombineOp().hasOneBlock() ||
      !getElementTypeOrSelf(op.getSrcs()[1].getType()).isSignlessInteger())
    return std::nullopt;
  Block &body = op.getCombineOp().front();
  Value v = body.getArgument(0), i = body.getArgument(1);
  Value x = body.getArgument(2), j = body.getArgument(3);
  Operation *end = body.getTerminator();
  auto value = end->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto index = end->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!value || !index || value.getCondition() != index.getCondition() ||
      value.getTrueValue() != v || value.getFalseValue() != x ||
      index.getTrueValue() != i || index.getFalseValue() != j)
    return std::nullopt;
  auto isBefore = [&](Value condition) -> std::optional<bool> {
    if (compares(condition, v, x, I::sgt, F::OGT))
      return true;
    if (compares(condition, v, x, I::slt, F::OLT))
      return false;
    return std::nullopt;
  };
  auto isTie = [&](Value condition) {
    auto both = condition.getDefiningOp<arith::AndIOp>();
    auto is = [&](Value equal, Value earlier) {
      return compares(equal, v, x, I::eq, F::OEQ) &&
             compares(earlier, i, j, I::slt, F::AlwaysFalse);
    };
    return both && (is(both.getLhs(), both.getRhs()) ||
                    is(both.getRhs(), both.getLhs()));
  };
  Value stays = value.getCondition();
  if (std::optional<bool> isMax = isBefore(stays))
    return ArgCombiner{*isMax, /*tieBreakLeft=*/false};
  auto either = stays.getDefiningOp<arith::OrIOp>();
  if (!either)
    return std::nullopt;
  for (auto [before, tie] : {std::pair(either.getLhs(), either.getRhs()),
                             std::pair(either.getRhs(), either.getLhs())}) {
    std::optional<bool> isMax = isBefore(before);
    if (isMax && isTie(tie))
      return ArgCombiner{*isMax, /*tieBreakLeft=*/true};
  }
  return std::nullopt;
}

/// Returns the initial value of a reduction to the largest or smallest value,
/// which every other value replaces: the least value of the type for a maximum,
/// the greatest for a minimum.
TypedAttr getWorst(Type type, bool isMax, Builder &builder) {
  if (auto number = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = number.getFloatSemantics();
    return builder.getFloatAttr(type,
                                APFloat::semanticsHasInf(semantics)
                                    ? APFloat::getInf(semantics, isMax)
                                    : APFloat::getLargest(semantics, isMax));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  return builder.getIntegerAttr(type, isMax ? APInt::getSignedMinValue(bits)
                                            : APInt::getSignedMaxValue(bits));
}

/// Replaces a reduction by its converted results. A result without dimensions
/// is a scalar in Triton, so it is replaced by the element of its tensor.
void replaceByElements(tt::ReduceOp op, ValueRange results,
                       Rewriter &rewriter) {
  SmallVector<Value> values(results);
  for (Value &value : values)
    if (cast<RankedTensorType>(value.getType()).getRank() == 0)
      value =
          tensor::ExtractOp::create(rewriter, op.getLoc(), value, ValueRange());
  rewriter.replaceOp(op, values);
}

struct ArgPattern : OpConversionPattern<tt::ReduceOp> {
  ArgPattern(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(tt::ReduceOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    std::optional<ArgCombiner> combiner = matchArgCombiner(op);
    if (!combiner)
      return rewriter.notifyMatchFailure(
          op, "it does not reduce to the largest or smallest value");
    Location loc = op.getLoc();
    Value values = adaptor.getSrcs()[0], indices = adaptor.getSrcs()[1];
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(values.getType()).getShape());
    shape.erase(shape.begin() + op.getAxis());
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (auto [input, isMax] :
         {std::pair(values, combiner->isMax), std::pair(indices, false)}) {
      Type element = getElementTypeOrSelf(input.getType());
      Value worst = arith::ConstantOp::create(
          rewriter, loc, getWorst(element, isMax, rewriter));
      types.push_back(tensorOf(shape, element));
      inits.push_back(fill(rewriter, loc, tensorOf(shape, element), worst));
    }
    SmallVector<Value> operands{values, indices, inits[0], inits[1]};
    NamedAttribute attributes[] = {
        rewriter.getNamedAttr("dimension",
                              rewriter.getI64IntegerAttr(op.getAxis())),
        rewriter.getNamedAttr("tie_break_left",
                              rewriter.getBoolAttr(combiner->tieBreakLeft))};
    Operation *made;
    if (combiner->isMax)
      made = linalg_ext::ArgMaxOp::create(rewriter, loc, types, operands,
                                          attributes);
    else
      made = linalg_ext::ArgMinOp::create(rewriter, loc, types, operands,
                                          attributes);
    replaceByElements(op, made->getResults(), rewriter);
    return success();
  }
};

struct ReducePattern : OpConversionPattern<tt::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ReduceOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis();
    auto whole = cast<RankedTensorType>(adaptor.getSrcs()[0].getType());
    SmallVector<int64_t> shape(whole.getShape());
    shape.erase(shape.begin() + axis);

    SmallVector<Value> inputs(adaptor.getSrcs()), inits;
    Operation *combiner = op.getSingleCombiner();
    TypedAttr identity = combiner && inputs.size() == 1
                             ? getIdentity(combiner, rewriter)
                             : TypedAttr();
    for (Value &input : inputs) {
      Type element = getElementTypeOrSelf(input.getType());
      if (identity) {
        Value value = arith::ConstantOp::create(rewriter, loc, identity);
        inits.push_back(fill(rewriter, loc, tensorOf(shape, element), value));
        continue;
      }
      // Without an identity, the reduction begins with the first elements.
      Part first(rewriter, whole, axis, 0, 1);
      inits.push_back(tensor::ExtractSliceOp::create(
          rewriter, loc, tensorOf(shape, element), input, first.offsets,
          first.sizes, first.strides));
      Part rest(rewriter, whole, axis, 0, whole.getDimSize(axis) - 1);
      rest.offsets[axis] = rewriter.getIndexAttr(1);
      if (whole.getDimSize(axis) != 1)
        input = tensor::ExtractSliceOp::create(
            rewriter, loc, input, rest.offsets, rest.sizes, rest.strides);
    }
    SmallVector<Value> results;
    if (!identity && whole.getDimSize(axis) == 1) {
      results = inits;
    } else {
      // The body's first arguments are accumulators in Triton, but elements in
      // linalg.
      auto reduce = linalg::ReduceOp::create(
          rewriter, loc, inputs, inits, axis,
          [&](OpBuilder &builder, Location loc, ValueRange arguments) {
            SmallVector<Value> swapped(arguments.drop_front(inputs.size()));
            llvm::append_range(swapped, arguments.take_front(inputs.size()));
            linalg::YieldOp::create(
                builder, loc, inlineBody(builder, op.getCombineOp(), swapped));
          });
      results.assign(reduce->getResults().begin(), reduce->getResults().end());
    }
    replaceByElements(op, results, rewriter);
    return success();
  }
};

struct ScanPattern : OpConversionPattern<tt::ScanOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ScanOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (Value source : adaptor.getSrcs()) {
      types.push_back(source.getType());
      inits.push_back(emptyOf(rewriter, op.getLoc(),
                              cast<RankedTensorType>(source.getType())));
    }
    auto scan = linalg_ext::ScanOp::create(
        rewriter, op.getLoc(), types, adaptor.getSrcs(), inits,
        int64_t(op.getAxis()), op.getReverse());
    OpBuilder::InsertionGuard guard(rewriter);
    auto from = op.getCombineOp().getArguments();
    Block *body = rewriter.createBlock(
        &scan.getBody(), {}, op.getCombineOp().getArgumentTypes(),
        SmallVector<Location>(from.size(), op.getLoc()));
    linalg_ext::YieldOp::create(
        rewriter, op.getLoc(),
        inlineBody(rewriter, op.getCombineOp(), body->getArguments()));
    rewriter.replaceOp(op, scan.getResults());
    return success();
  }
};

struct HistogramPattern : OpConversionPattern<tt::HistogramOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::HistogramOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value zero = constantOf(rewriter, loc, type.getElementType(), 0);
    auto histogram = linalg_ext::HistogramOp::create(
        rewriter, loc, adaptor.getSrc(), adaptor.getMask(),
        fill(rewriter, loc, type, zero));
    rewriter.replaceOp(op, histogram.getResult());
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateReducePatterns(
    const TypeConverter &converter, PatternSet &patterns) {
  patterns.add<ArgPattern, HistogramPattern, ReducePattern, ScanPattern>(
      converter);
}
