// SPDX-License-Identifier: Apache-2.0
//
// Derives how the result of each integer operation grows along a dimension from
// how its operands grow.

#include "analysis/AxisTransfer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/CmpPredicate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

namespace {

/// One operation, on integers of at most 64 bits.
class Transfer {
public:
  Transfer(Operation *op, ArrayRef<AxisInfo> operands, Overflow overflow)
      : op(op), operands(operands), overflow(overflow),
        type(op->getResult(0).getType()), width(widthOf(type)) {}

  std::optional<AxisInfo> run();

private:
  /// Returns the axis of the result of operands with the axes `a` and `b`. The
  /// groups of `growth` are the operands' groups or parts of them.
  Axis resultOf(const Axis &a, const Axis &b, Growth growth);
  /// Returns the facts of the result. `grow` computes its growth from the axes
  /// of both operands, whose groups have the same size.
  AxisInfo zip(function_ref<Growth(Axis, Axis)> grow);
  /// Returns the facts of the result if one operand is the constant `other`.
  /// `grow` computes its growth from an axis of the other operand.
  AxisInfo map(const AxisInfo &info, const APInt &other,
               function_ref<Growth(Axis)> grow);
  AxisInfo addOrSubtract(bool subtract);
  /// Handles quotients and remainders, and shifts, whose quotient is rounded
  /// down.
  AxisInfo divideOrRest(bool isSigned, bool isRemainder);
  AxisInfo shiftRight(bool isSigned);
  AxisInfo andBits();
  /// Returns the facts of the result of an operation of which only one thing is
  /// known: equal operands give equal results.
  AxisInfo sameForSame();
  AxisInfo compare(arith::CmpIPredicate predicate);
  AxisInfo select();
  std::optional<AxisInfo> transfer();
  std::optional<ConstantIntRanges> range();

  const AxisInfo &lhs() const { return operands[0]; }
  const AxisInfo &rhs() const { return operands[1]; }
  bool bothNonNegative() const {
    return lhs().isNonNegative && rhs().isNonNegative;
  }
  /// Returns whether the sum or product of non-negative numbers is assumed to
  /// be non-negative. It is not if it certainly wraps, or if a factor takes
  /// more than half of the bits, as in hash functions, which wrap by design.
  bool staysNonNegative(const AxisInfo &result) const {
    if (!isa<arith::AddIOp, arith::MulIOp>(op))
      return false;
    auto isLarge = [&](const AxisInfo &info) {
      return info.constant && info.constant->getActiveBits() > width / 2;
    };
    bool wraps = llvm::any_of(result.axes, [&](const Axis &axis) {
      return wrapsForSure(axis, width);
    });
    return bothNonNegative() && width >= 32 && overflow == Overflow::Never &&
           !wraps &&
           !(isa<arith::MulIOp>(op) && (isLarge(lhs()) || isLarge(rhs())));
  }

  Operation *op;
  ArrayRef<AxisInfo> operands;
  Overflow overflow;
  Type type;
  unsigned width;
};

} // namespace

Axis Transfer::resultOf(const Axis &a, const Axis &b, Growth growth) {
  // The first element of a group is computed from the first elements of the
  // operands' groups.
  int64_t starts = divisorOf(op,
                             {a.refined(growth.stride).divisibility,
                              b.refined(growth.stride).divisibility},
                             rhs().constant);
  return {starts, growth.stride, growth.strideValue};
}

AxisInfo Transfer::zip(function_ref<Growth(Axis, Axis)> grow) {
  AxisInfo result;
  for (auto [a, b] : llvm::zip_equal(lhs().axes, rhs().axes)) {
    int64_t stride = std::gcd(a.stride, b.stride);
    Axis x = a.refined(stride), y = b.refined(stride);
    result.axes.push_back(resultOf(x, y, grow(x, y)));
  }
  return result;
}

AxisInfo Transfer::map(const AxisInfo &info, const APInt &other,
                       function_ref<Growth(Axis)> grow) {
  AxisInfo result;
  for (const Axis &axis : info.axes)
    result.axes.push_back(
        resultOf(axis, {divisorOf(other), axis.stride, 0}, grow(axis)));
  return result;
}

AxisInfo Transfer::addOrSubtract(bool subtract) {
  return zip(
      [&](Axis a, Axis b) { return growthOfSum(a, b, subtract, width); });
}

AxisInfo Transfer::sameForSame() {
  return zip([](Axis a, Axis b) {
    return a.strideValue || b.strideValue ? Growth() : Growth{a.stride, 0};
  });
}

AxisInfo Transfer::divideOrRest(bool isSigned, bool isRemainder) {
  const std::optional<APInt> &divisor = rhs().constant;
  if (!divisor || !divisor->isStrictlyPositive() ||
      divisor->getActiveBits() > maxDivisorLog2)
    return sameForSame();
  bool isFloor = !isSigned || lhs().isNonNegative;
  int64_t number = divisor->getSExtValue();
  return map(lhs(), *divisor, [&](Axis axis) {
    return isRemainder
               ? growthOfRemainder(axis, number, isFloor)
               : growthOfQuotient(axis, number, isFloor, isSigned, width);
  });
}

AxisInfo Transfer::shiftRight(bool isSigned) {
  const std::optional<APInt> &bits = rhs().constant;
  if (!bits || bits->uge(std::min(width, maxDivisorLog2)))
    return sameForSame();
  return map(lhs(), *bits, [&](Axis axis) {
    return growthOfQuotient(axis, int64_t(1) << bits->getZExtValue(),
                            /*isFloor=*/true, isSigned, width);
  });
}

AxisInfo Transfer::andBits() {
  const AxisInfo &info = rhs().constant ? lhs() : rhs();
  const std::optional<APInt> &mask =
      rhs().constant ? rhs().constant : lhs().constant;
  if (!mask)
    return sameForSame();
  return map(info, *mask,
             [&](Axis axis) { return growthOfMasked(axis, *mask); });
}

AxisInfo Transfer::compare(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  unsigned bits = widthOf(op->getOperand(0).getType());
  return zip([&](Axis a, Axis b) -> Growth {
    if (a.strideValue == 0 && b.strideValue == 0)
      return {a.stride, 0};
    P relation = predicate;
    if (a.strideValue == 0) {
      std::swap(a, b);
      relation = triton_ext::swapOperands(relation);
    }
    // Let d divide the bound. Then the bound is not strictly between two
    // neighbouring multiples of d, so either all numbers from one multiple to
    // just before the next are below the bound, or none is.
    if (b.strideValue != 0 ||
        !llvm::is_contained({P::slt, P::ult, P::sge, P::uge}, relation))
      return {};
    int64_t half = int64_t(1) << std::min(maxDivisorLog2, bits - 1);
    Axis cut = cutToStretches(a, std::min(b.divisibility, half));
    return {cut.stride, 0};
  });
}

AxisInfo Transfer::select() {
  const AxisInfo &condition = operands[0];
  const AxisInfo &yes = operands[1], &no = operands[2];
  if (condition.constant)
    return condition.constant->isZero() ? no : yes;
  AxisInfo result = AxisInfo::join(yes, no);
  // One condition for all elements chooses all elements of the same operand.
  if (isa<RankedTensorType>(op->getOperand(0).getType()))
    for (auto [axis, chosen] : llvm::zip_equal(result.axes, condition.axes))
      axis = axis.refined(std::gcd(axis.stride, chosen.constancy()));
  return result;
}

std::optional<AxisInfo> Transfer::transfer() {
  using Result = std::optional<AxisInfo>;
  if (Result cast = transferCast(op, operands, overflow))
    return cast;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::MakeRangeOp range) -> Result {
        AxisInfo info;
        info.axes = {{divisorOf(range.getStartAttr().getInt()),
                      cast<RankedTensorType>(type).getDimSize(0), 1}};
        return info;
      })
      .Case<tt::GetProgramIdOp, tt::GetNumProgramsOp>(
          [&](auto) { return AxisInfo::unknown(type); })
      .Case([&](arith::AddIOp) { return addOrSubtract(false); })
      .Case([&](arith::SubIOp) { return addOrSubtract(true); })
      .Case([&](arith::MulIOp) {
        return zip([&](Axis a, Axis b) {
          return growthOfProduct(a, lhs().constant, b, rhs().constant, width);
        });
      })
      .Case([&](arith::ShLIOp) {
        const std::optional<APInt> &bits = rhs().constant;
        if (!bits || bits->uge(std::min(width, maxDivisorLog2)))
          return sameForSame();
        APInt factor = APInt::getOneBitSet(width, bits->getZExtValue());
        return map(lhs(), *bits, [&](Axis axis) {
          Axis other{divisorOf(factor), axis.stride, 0};
          return growthOfProduct(axis, std::nullopt, other, factor, width);
        });
      })
      .Case([&](arith::DivSIOp) { return divideOrRest(true, false); })
      .Case([&](arith::DivUIOp) { return divideOrRest(false, false); })
      .Case([&](arith::RemSIOp) { return divideOrRest(true, true); })
      .Case([&](arith::RemUIOp) { return divideOrRest(false, true); })
      .Case([&](arith::ShRSIOp) { return shiftRight(true); })
      .Case([&](arith::ShRUIOp) { return shiftRight(false); })
      .Case([&](arith::AndIOp) { return andBits(); })
      .Case<arith::OrIOp, arith::XOrIOp, arith::MinSIOp, arith::MaxSIOp,
            arith::MinUIOp, arith::MaxUIOp>([&](auto) { return sameForSame(); })
      .Case([&](arith::CmpIOp op) { return compare(op.getPredicate()); })
      .Case([&](arith::SelectOp) { return select(); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the range of a value of this type that follows from `info`.
static ConstantIntRanges rangeOfInfo(Value value, const AxisInfo &info) {
  ConstantIntRanges full = fullRange(value);
  unsigned bits = full.smin().getBitWidth();
  if (bits == 0)
    return full;
  if (info.constant)
    return ConstantIntRanges::constant(*info.constant);
  return info.isNonNegative
             ? ConstantIntRanges::fromSigned(APInt::getZero(bits),
                                             APInt::getSignedMaxValue(bits))
             : full;
}

std::optional<ConstantIntRanges> Transfer::range() {
  if (!getElementTypeOrSelf(type).isIntOrIndex() || !hasRule(op))
    return std::nullopt;
  SmallVector<ConstantIntRanges> ranges;
  for (auto [operand, info] : llvm::zip_equal(op->getOperands(), operands))
    ranges.push_back(rangeOfInfo(operand, info));
  return rangeOf(op->getResult(0), ranges);
}

std::optional<AxisInfo> Transfer::run() {
  std::optional<ConstantIntRanges> known = range();
  if (std::optional<APInt> constant =
          known ? known->getConstantValue() : std::nullopt)
    return AxisInfo::ofConstant(type, *constant);
  std::optional<AxisInfo> result = transfer();
  if (!known)
    return result;
  if (!result)
    result = AxisInfo::unknown(type);
  result->isNonNegative =
      known->smin().isNonNegative() || staysNonNegative(*result);
  return result;
}

std::optional<AxisInfo> mlir::triton_ext::analysis::transferArithmetic(
    Operation *op, ArrayRef<AxisInfo> operands, Overflow overflow) {
  auto isTracked = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<tt::PointerType>(element) ||
           (element.isIntOrIndex() && widthOf(element) <= 64);
  };
  if (!llvm::all_of(op->getOperandTypes(), isTracked) ||
      !isTracked(op->getResult(0).getType()))
    return std::nullopt;
  return Transfer(op, operands, overflow).run();
}
