// SPDX-License-Identifier: Apache-2.0
//
// What each operation of arith on integers makes of what is known of its
// operands.

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
  /// `combine` of the axes of both operands, in groups of the same size.
  AxisInfo zip(bool isNonNegative, function_ref<Axis(Axis, Axis)> combine);
  AxisInfo map(bool isNonNegative, function_ref<Axis(Axis)> change);
  AxisInfo addOrSubtract(bool subtract);
  /// Quotient or remainder; the quotient of a shift is rounded down.
  AxisInfo divideOrRest(bool isSigned, bool isRemainder);
  AxisInfo shiftRight(bool isSigned);
  AxisInfo andBits();
  /// Of an operation that is the same for the same operands, and of which
  /// what divides both operands divides the result.
  AxisInfo keepsDivisors(bool isNonNegative);
  AxisInfo compare(arith::CmpIPredicate predicate);
  AxisInfo select();

  const AxisInfo &lhs() const { return operands[0]; }
  const AxisInfo &rhs() const { return operands[1]; }
  bool bothNonNegative() const {
    return lhs().isNonNegative && rhs().isNonNegative;
  }
  bool eitherNonNegative() const {
    return lhs().isNonNegative || rhs().isNonNegative;
  }
  /// Of sums and products, unless they wrap: for sure, or because somebody
  /// multiplies by a number that is made for that.
  bool staysNonNegative(const AxisInfo &result) const {
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

AxisInfo Transfer::zip(bool isNonNegative,
                       function_ref<Axis(Axis, Axis)> combine) {
  AxisInfo result;
  for (auto [a, b] : llvm::zip_equal(lhs().axes, rhs().axes)) {
    int64_t stride = std::gcd(a.stride, b.stride);
    result.axes.push_back(combine(a.refined(stride), b.refined(stride)));
  }
  result.isNonNegative = isNonNegative;
  return result;
}

AxisInfo Transfer::map(bool isNonNegative, function_ref<Axis(Axis)> change) {
  AxisInfo result;
  for (const Axis &axis : lhs().axes)
    result.axes.push_back(change(axis));
  result.isNonNegative = isNonNegative;
  return result;
}

AxisInfo Transfer::addOrSubtract(bool subtract) {
  AxisInfo result = zip(/*isNonNegative=*/false, [&](Axis a, Axis b) {
    return addAxes(a, b, subtract, width);
  });
  result.isNonNegative = !subtract && staysNonNegative(result);
  return result;
}

AxisInfo Transfer::divideOrRest(bool isSigned, bool isRemainder) {
  const std::optional<APInt> &divisor = rhs().constant;
  bool isPositive = divisor && divisor->isStrictlyPositive() &&
                    divisor->getActiveBits() <= 62;
  if (isPositive) {
    bool isFloor = !isSigned || lhs().isNonNegative;
    int64_t number = divisor->getSExtValue();
    // As an unsigned number, what was negative is halved at least.
    bool isNonNegative =
        lhs().isNonNegative || (!isSigned && (isRemainder || number > 1));
    return map(isNonNegative, [&](Axis axis) {
      return isRemainder ? remainder(axis, number, isFloor)
                         : divide(axis, number, isFloor, isSigned, width);
    });
  }
  bool isNonNegative =
      isRemainder && isSigned ? lhs().isNonNegative : bothNonNegative();
  if (isRemainder)
    return keepsDivisors(isNonNegative);
  return zip(isNonNegative, [&](Axis a, Axis b) {
    return a.strideValue || b.strideValue ? Axis() : Axis{1, a.stride, 0};
  });
}

AxisInfo Transfer::shiftRight(bool isSigned) {
  const std::optional<APInt> &bits = rhs().constant;
  if (!bits || bits->uge(std::min(width, 63u)))
    return zip(lhs().isNonNegative, [&](Axis a, Axis b) {
      return a.strideValue || b.strideValue ? Axis() : Axis{1, a.stride, 0};
    });
  return map(lhs().isNonNegative || (!isSigned && !bits->isZero()),
             [&](Axis axis) {
               return divide(axis, int64_t(1) << bits->getZExtValue(),
                             /*isFloor=*/true, isSigned, width);
             });
}

AxisInfo Transfer::andBits() {
  const AxisInfo &info = rhs().constant ? lhs() : rhs();
  const std::optional<APInt> &mask =
      rhs().constant ? rhs().constant : lhs().constant;
  if (!mask)
    return zip(eitherNonNegative(), [](Axis a, Axis b) {
      if (a.strideValue == 0 && b.strideValue == 0)
        return Axis{std::max(a.divisibility, b.divisibility), a.stride, 0};
      return Axis{std::max(a.divisibilityOfAll(), b.divisibilityOfAll()), 1, 0};
    });
  AxisInfo result;
  for (const Axis &axis : info.axes)
    result.axes.push_back(mask->isAllOnes() ? axis : maskBits(axis, *mask));
  result.isNonNegative = eitherNonNegative();
  return result;
}

AxisInfo Transfer::keepsDivisors(bool isNonNegative) {
  return zip(isNonNegative, [](Axis a, Axis b) {
    if (a.strideValue == 0 && b.strideValue == 0)
      return Axis{std::min(a.divisibility, b.divisibility), a.stride, 0};
    return Axis{std::min(a.divisibilityOfAll(), b.divisibilityOfAll()), 1, 0};
  });
}

AxisInfo Transfer::compare(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  unsigned bits = widthOf(op->getOperand(0).getType());
  return zip(/*isNonNegative=*/false, [&](Axis a, Axis b) {
    if (a.strideValue == 0 && b.strideValue == 0)
      return Axis{1, a.stride, 0};
    P relation = predicate;
    if (a.strideValue == 0) {
      std::swap(a, b);
      relation = triton_ext::swapOperands(relation);
    }
    // Up to the next multiple of what divides the bound, all are below it or
    // none.
    if (b.strideValue != 0 ||
        !llvm::is_contained({P::slt, P::ult, P::sge, P::uge}, relation))
      return Axis();
    int64_t half = int64_t(1) << std::min(62u, bits - 1);
    Axis cut = cutToStretches(a, std::min(b.divisibility, half));
    return Axis{1, cut.stride, 0};
  });
}

AxisInfo Transfer::select() {
  const AxisInfo &condition = operands[0];
  const AxisInfo &yes = operands[1], &no = operands[2];
  if (condition.constant)
    return condition.constant->isZero() ? no : yes;
  AxisInfo result = AxisInfo::join(yes, no);
  // One condition for all chooses all of one or all of the other.
  if (isa<RankedTensorType>(op->getOperand(0).getType()))
    for (auto [axis, chosen] : llvm::zip_equal(result.axes, condition.axes))
      axis = axis.refined(std::gcd(axis.stride, chosen.constancy()));
  return result;
}

std::optional<AxisInfo> Transfer::run() {
  if (operands.size() == 2 && lhs().constant && rhs().constant)
    if (std::optional<APInt> value =
            foldIntegers(op, *lhs().constant, *rhs().constant))
      return AxisInfo::ofConstant(type, *value);
  using Result = std::optional<AxisInfo>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp constant) -> Result {
        APInt number;
        if (!matchPattern(constant.getResult(), m_ConstantInt(&number)))
          return std::nullopt;
        return AxisInfo::ofConstant(type, number);
      })
      .Case([&](tt::MakeRangeOp range) -> Result {
        int64_t start = range.getStartAttr().getInt();
        int64_t size = cast<RankedTensorType>(type).getDimSize(0);
        if (size == 1)
          return AxisInfo::ofConstant(type,
                                      APInt(width, start, /*isSigned=*/true));
        AxisInfo info;
        info.axes = {{powerOfTwoIn(start), size, 1}};
        info.isNonNegative = start >= 0;
        return info;
      })
      .Case<tt::GetProgramIdOp, tt::GetNumProgramsOp>([&](auto) -> Result {
        AxisInfo info = AxisInfo::unknown(type);
        info.isNonNegative = true;
        return info;
      })
      .Case([&](arith::AddIOp) { return addOrSubtract(false); })
      .Case([&](arith::SubIOp) { return addOrSubtract(true); })
      .Case([&](arith::MulIOp) {
        AxisInfo result = zip(/*isNonNegative=*/false, [&](Axis a, Axis b) {
          return multiply(a, lhs().constant, b, rhs().constant, width);
        });
        result.isNonNegative = staysNonNegative(result);
        return result;
      })
      .Case([&](arith::ShLIOp) -> Result {
        const std::optional<APInt> &bits = rhs().constant;
        if (!bits || bits->uge(std::min(width, 62u)))
          return keepsDivisors(false);
        APInt factor(width, uint64_t(1) << bits->getZExtValue());
        return map(false, [&](Axis axis) {
          Axis other{int64_t(1) << bits->getZExtValue(), axis.stride, 0};
          return multiply(axis, std::nullopt, other, factor, width);
        });
      })
      .Case([&](arith::DivSIOp) { return divideOrRest(true, false); })
      .Case([&](arith::DivUIOp) { return divideOrRest(false, false); })
      .Case([&](arith::RemSIOp) { return divideOrRest(true, true); })
      .Case([&](arith::RemUIOp) { return divideOrRest(false, true); })
      .Case([&](arith::ShRSIOp) { return shiftRight(true); })
      .Case([&](arith::ShRUIOp) { return shiftRight(false); })
      .Case([&](arith::AndIOp) { return andBits(); })
      .Case<arith::OrIOp, arith::XOrIOp, arith::MinSIOp>(
          [&](auto) { return keepsDivisors(bothNonNegative()); })
      .Case<arith::MaxSIOp, arith::MinUIOp>(
          [&](auto) { return keepsDivisors(eitherNonNegative()); })
      .Case([&](arith::MaxUIOp) { return keepsDivisors(bothNonNegative()); })
      .Case([&](arith::CmpIOp op) { return compare(op.getPredicate()); })
      .Case([&](arith::SelectOp) { return select(); })
      .Default([](Operation *) { return std::nullopt; });
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
  if (std::optional<AxisInfo> cast = transferCast(op, operands, overflow))
    return cast;
  return Transfer(op, operands, overflow).run();
}
