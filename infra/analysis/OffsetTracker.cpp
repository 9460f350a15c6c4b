// SPDX-License-Identifier: Apache-2.0
//
// Tracks offsets backward through the operations that make them. An operation
// without a rule here ends the track.

#include "analysis/OffsetTracker.h"
#include "analysis/Dimensions.h"
#include "analysis/IntegerFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;

/// The greatest tracked shift of an offset. Twice its factor, 2^61, still fits
/// in an int64_t.
static constexpr uint64_t mostShift = 61;
namespace tt = mlir::triton;

std::optional<Choice> mlir::triton_ext::analysis::getChoice(Value value,
                                                            IndexMath &math) {
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    Value condition = select.getCondition();
    if (auto splat = condition.getDefiningOp<tt::SplatOp>())
      condition = splat.getSrc();
    if (!condition.getType().isInteger(1))
      return std::nullopt;
    condition = math.reach(condition);
    if (!condition)
      return std::nullopt;
    return Choice{condition, select.getTrueValue(), select.getFalseValue()};
  }
  auto branch = value.getDefiningOp<scf::IfOp>();
  Value condition = branch ? math.reach(branch.getCondition()) : Value();
  if (!condition)
    return std::nullopt;
  unsigned index = cast<OpResult>(value).getResultNumber();
  return Choice{condition, branch.thenYield().getOperand(index),
                branch.elseYield().getOperand(index)};
}

/// Returns whether offset and strides are constants and all elements are in [0,
/// 2^bits).
static bool areBelow(const Offsets &offsets, ArrayRef<int64_t> shape,
                     unsigned bits) {
  std::optional<int64_t> offset = getConstantIntValue(offsets.offset);
  if (!offset || offsets.wrapsAround())
    return false;
  // 128 bits hold the sum of a few products of a stride and a size.
  llvm::APInt low(128, *offset, /*isSigned=*/true), high = low;
  for (auto [stride, size] : llvm::zip_equal(offsets.strides, shape)) {
    std::optional<int64_t> number = getConstantIntValue(stride);
    if (!number)
      return false;
    llvm::APInt moved = llvm::APInt(128, *number, /*isSigned=*/true) *
                        llvm::APInt(128, size - 1);
    (*number < 0 ? low : high) += moved;
  }
  return low.isNonNegative() && high.getActiveBits() <= bits;
}

/// Returns whether the flags of sums and products say that no element wraps.
static bool neverWraps(Value tensor, IndexMath &math) {
  Operation *op = tensor.getDefiningOp();
  if (!op || !math.spend())
    return false;
  if (isa<tt::SplatOp, tt::MakeRangeOp, arith::ConstantOp>(op))
    return true;
  auto flags = arith::IntegerOverflowFlags::nsw;
  if (auto add = dyn_cast<arith::AddIOp>(op))
    flags = add.getOverflowFlags();
  else if (auto product = dyn_cast<arith::MulIOp>(op))
    flags = product.getOverflowFlags();
  else if (!isa<arith::ExtSIOp>(op))
    return false;
  if (!bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw))
    return false;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return neverWraps(operand, math); });
}

static unsigned bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

static Offsets constantOffsets(OpFoldResult offset, size_t rank,
                               IndexMath &math) {
  return {offset, SmallVector<OpFoldResult>(rank, math.number(0))};
}

std::optional<Offsets>
mlir::triton_ext::analysis::trackOffsets(Value value, IndexMath &math) {
  size_t rank = shapeOf(value).size();
  if (value.getType().isSignlessInteger() || value.getType().isIndex()) {
    bool isWide = value.getType().isSignlessInteger() &&
                  value.getType().getIntOrFloatBitWidth() > 64;
    Value number = isWide ? Value() : math.reach(value);
    if (!number)
      return std::nullopt;
    return constantOffsets(math.fromInteger(number), 0, math);
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type ||
      !(type.getElementType().isSignlessInteger() ||
        type.getElementType().isIndex()) ||
      bitsOf(type) > 64)
    return std::nullopt;
  SplatElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant)
    return constantOffsets(
        math.number(constant.getSplatValue<APInt>().getSExtValue()), rank,
        math);
  Operation *op = value.getDefiningOp();
  if (!op || !math.spend())
    return std::nullopt;
  // Narrow integers do wrap around in real kernels.
  bool wide = bitsOf(type) >= 32;
  auto both = [&](auto binary) -> std::optional<std::pair<Offsets, Offsets>> {
    if (!wide)
      return std::nullopt;
    auto lhs = trackOffsets(binary.getLhs(), math);
    auto rhs = lhs ? trackOffsets(binary.getRhs(), math) : std::nullopt;
    if (!rhs)
      return std::nullopt;
    return std::make_pair(*lhs, *rhs);
  };
  using Result = std::optional<Offsets>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp splat) -> Result {
        Value number = math.reach(splat.getSrc());
        if (!number)
          return std::nullopt;
        return constantOffsets(math.fromInteger(number), rank, math);
      })
      .Case([&](tt::MakeRangeOp range) -> Result {
        return Offsets{math.number(range.getStartAttr().getInt()),
                       {math.number(type.getDimSize(0) == 1 ? 0 : 1)}};
      })
      .Case([&](arith::AddIOp add) -> Result {
        auto pair = both(add);
        if (!pair)
          return std::nullopt;
        return addOffsets(pair->first, pair->second, math);
      })
      .Case([&](arith::SubIOp sub) -> Result {
        auto pair = both(sub);
        if (!pair)
          return std::nullopt;
        return subtractOffsets(pair->first, pair->second, math);
      })
      .Case([&](arith::MulIOp mul) -> Result {
        auto pair = both(mul);
        if (!pair)
          return std::nullopt;
        auto &[lhs, rhs] = *pair;
        if (rhs.isUniform())
          return scaleOffsets(lhs, rhs.offset, math);
        if (lhs.isUniform())
          return scaleOffsets(rhs, lhs.offset, math);
        return std::nullopt;
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto remainder) -> Result {
        // Both remainders are equal if no number is negative.
        IntegerFacts facts;
        if (isa<arith::RemUIOp>(remainder) &&
            !(facts.limit(remainder.getLhs()) &&
              facts.limit(remainder.getRhs())))
          return std::nullopt;
        auto pair = both(remainder);
        if (!pair || !pair->second.isUniform())
          return std::nullopt;
        return wrapOffsets(pair->first, pair->second.offset, type.getShape(),
                           neverWraps(remainder.getLhs(), math), math);
      })
      .Case([&](arith::ShLIOp shift) -> Result {
        SplatElementsAttr amount;
        if (!wide || !matchPattern(shift.getRhs(), m_Constant(&amount)) ||
            !amount)
          return std::nullopt;
        uint64_t bits = amount.getSplatValue<APInt>().getZExtValue();
        auto offsets = trackOffsets(shift.getLhs(), math);
        if (!offsets || bits > mostShift)
          return std::nullopt;
        return scaleOffsets(*offsets, math.number(int64_t(1) << bits), math);
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto extend) -> Result {
        // A true i1 is extended to -1.
        if (bitsOf(extend.getType()) < bitsOf(extend.getIn().getType()))
          return std::nullopt;
        return trackOffsets(extend.getIn(), math);
      })
      .Case<arith::ExtUIOp, arith::TruncIOp>([&](auto convert) -> Result {
        // The elements must be the same numbers in both types: non-negative,
        // and without the sign bit of the narrower type.
        auto offsets = trackOffsets(convert.getIn(), math);
        unsigned bits = std::min(bitsOf(convert.getType()),
                                 bitsOf(convert.getIn().getType()));
        if (!offsets || !areBelow(*offsets, shapeOf(value), bits - 1))
          return std::nullopt;
        return offsets;
      })
      .Case<arith::SelectOp, scf::IfOp>([&](auto) -> Result {
        auto choice = getChoice(value, math);
        auto yes = choice ? trackOffsets(choice->yes, math) : std::nullopt;
        auto no = yes ? trackOffsets(choice->no, math) : std::nullopt;
        if (!no)
          return std::nullopt;
        return chooseOffsets(choice->condition, *yes, *no, math);
      })
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](Operation *op) -> Result {
            auto offsets = trackOffsets(op->getOperand(0), math);
            if (!offsets)
              return std::nullopt;
            return reshapeOffsets(op, *offsets, math);
          })
      .Default([](Operation *) { return std::nullopt; });
}
