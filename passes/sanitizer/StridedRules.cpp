// SPDX-License-Identifier: Apache-2.0
//
// The rules that derive the strided form of a tensor from the forms of its
// operands. The result of an operation without a rule has no strided form.

#include "Strided.h"

#include "analysis/Dimensions.h"
#include "analysis/OffsetTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
using analysis::shapeOf;
namespace tt = mlir::triton;

/// Returns the bytes from one element to the next in memory for a pointer of
/// this type; 1 for an i1.
static int64_t stepOf(Type type) {
  Type pointee =
      cast<tt::PointerType>(getElementTypeOrSelf(type)).getPointeeType();
  if (isa<tt::PointerType>(pointee))
    return 8;
  return pointee.isIntOrFloat()
             ? llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8)
             : 0;
}

/// Makes a sum or a product of i32 or narrower integers exact if it is the same
/// in all elements: truncates it to its width and sign-extends it.
static void wrapUniform(Strided &strided, unsigned width, IndexMath &math) {
  if (width >= 64) {
    strided.isExact = true;
    return;
  }
  strided.isExact = false;
  if (!strided.isUniform())
    return;
  strided.isExact = true;
  if (std::optional<int64_t> constant = getConstantIntValue(strided.base)) {
    strided.base = math.number(llvm::SignExtend64(*constant, width));
    return;
  }
  Type narrow = math.builder.getIntegerType(width);
  Value rest = arith::TruncIOp::create(math.builder, math.loc, narrow,
                                       math.toValue(strided.base));
  strided.base = arith::ExtSIOp::create(math.builder, math.loc, math.type, rest)
                     .getResult();
}

std::optional<Strided> StridedTracker::computeOp(Operation *op, OpResult result,
                                                 IndexMath &math) {
  using Result = std::optional<Strided>;
  ArrayRef<int64_t> shape = shapeOf(result);
  unsigned width = widthOf(result.getType());
  SmallVector<OpFoldResult> none(shape.size(), math.number(0));
  DenseIntElementsAttr constant;
  if (matchPattern(Value(result), m_Constant(&constant))) {
    if (!constant.isSplat())
      return std::nullopt;
    return Strided{
        math.number(constant.getSplatValue<APInt>().getSExtValue()), none, {}};
  }
  auto sum = [&](Value left, Value right, bool isDifference) -> Result {
    Result a = track(left), b = a ? track(right) : std::nullopt;
    if (!b)
      return std::nullopt;
    a = sumOf(*a, *b, isDifference, math);
    wrapUniform(*a, width, math);
    return a;
  };
  auto scaled = [&](Result strided, OpFoldResult factor) -> Result {
    if (!strided)
      return std::nullopt;
    strided->base = math.mul(strided->base, factor);
    for (OpFoldResult &stride : strided->strides)
      stride = math.mul(stride, factor);
    if (strided->hasSlack()) {
      OpFoldResult a = math.mul(strided->slackLow, factor);
      OpFoldResult b = math.mul(strided->slackHigh, factor);
      strided->slackLow = math.min(a, b);
      strided->slackHigh = math.max(a, b);
    }
    return strided;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        Result scalar = track(splat.getSrc());
        if (scalar)
          scalar->strides = none;
        return scalar;
      })
      .Case([&](tt::MakeRangeOp range) -> Result {
        return Strided{math.number(range.getStartAttr().getInt()),
                       {math.number(shape[0] == 1 ? 0 : 1)},
                       {}};
      })
      .Case([&](arith::AddIOp add) {
        return sum(add.getLhs(), add.getRhs(), false);
      })
      .Case([&](arith::SubIOp sub) {
        return sum(sub.getLhs(), sub.getRhs(), true);
      })
      .Case([&](arith::MulIOp mul) -> Result {
        Result a = track(mul.getLhs()), b = a ? track(mul.getRhs()) : Result();
        if (!b)
          return std::nullopt;
        if (!b->isUniform())
          std::swap(a, b);
        if (!b->isUniform())
          return std::nullopt;
        Value valid = both(a->valid, b->valid, math);
        a = scaled(a, b->base);
        a->valid = valid;
        wrapUniform(*a, width, math);
        return a;
      })
      .Case([&](arith::ShLIOp shift) -> Result {
        DenseIntElementsAttr amount;
        if (!matchPattern(shift.getRhs(), m_Constant(&amount)) ||
            !amount.isSplat())
          return std::nullopt;
        uint64_t bits = amount.getSplatValue<APInt>().getLimitedValue(64);
        if (bits >= width)
          return std::nullopt;
        Result a = scaled(track(shift.getLhs()),
                          math.number(int64_t(uint64_t(1) << bits)));
        if (a)
          wrapUniform(*a, width, math);
        return a;
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp>([&](auto extend) -> Result {
        Value in = extend.getIn();
        Result a = track(in);
        if (!a || widthOf(in.getType()) == 1)
          return std::nullopt;
        a = exact(*a, shape, widthOf(in.getType()), math);
        if (isa<arith::ExtUIOp>(op)) {
          Extremes all = extremes(*a, shape, nullptr, math);
          a->valid =
              both(a->valid, isWithin(all.low, 0, INT64_MAX, math), math);
        }
        return a;
      })
      .Case([&](arith::TruncIOp narrow) -> Result {
        // The value modulo 2^width.
        Result a = track(narrow.getIn());
        if (a)
          wrapUniform(*a, width, math);
        return a;
      })
      .Case([&](tt::AddPtrOp add) -> Result {
        int64_t step = stepOf(add.getType());
        Result a = track(add.getPtr()), b = a ? track(add.getOffset()) : a;
        if (!b || step == 0)
          return std::nullopt;
        b = exact(*b, shape, widthOf(add.getOffset().getType()), math);
        return sumOf(*a, *scaled(b, math.number(step)), false, math);
      })
      .Case<tt::BitcastOp, tt::IntToPtrOp, tt::PtrToIntOp>(
          [&](auto cast) -> Result {
            Value in = cast.getSrc();
            if (widthOf(in.getType()) != 64 || width != 64)
              return std::nullopt;
            return track(in);
          })
      .Case<arith::SelectOp, scf::IfOp>([&](auto) -> Result {
        auto choice = analysis::getChoice(result, math);
        if (!choice)
          return computeInterval(op, result, math);
        // A value that is computed in a branch cannot be used behind the
        // branch.
        Result a = track(choice->yes), b = a ? track(choice->no) : a;
        auto canUse = [&](const Strided &one) {
          auto can = [&](OpFoldResult x) {
            auto value = dyn_cast<Value>(x);
            return !value || math.canUse(value);
          };
          return can(one.base) && llvm::all_of(one.strides, can) &&
                 (!one.valid || math.canUse(one.valid));
        };
        if (!b || a->hasSlack() || b->hasSlack() || !canUse(*a) || !canUse(*b))
          return std::nullopt;
        Value condition = choice->condition;
        a->base = math.choose(condition, a->base, b->base);
        for (auto [x, y] : llvm::zip_equal(a->strides, b->strides))
          x = math.choose(condition, x, y);
        a->valid = both(a->valid, b->valid, math);
        a->isExact &= b->isExact;
        return a;
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *change) -> Result {
            Result a = track(change->getOperand(0));
            auto strides =
                a ? analysis::reshapeStrides(change, a->strides, math)
                  : std::nullopt;
            if (!strides)
              return std::nullopt;
            a->strides = *strides;
            return a;
          })
      .Default([&](Operation *) { return computeInterval(op, result, math); });
}
