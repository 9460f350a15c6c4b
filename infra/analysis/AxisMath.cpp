// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on what is known along one dimension. Everything is meant modulo 2
// to the width; where an operation reads its operands as numbers, as divisions
// and extensions do, groups are cut to where they do not wrap.

#include "analysis/AxisTransfer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;

Axis mlir::triton_ext::analysis::cutToStretches(Axis axis, int64_t length) {
  while (axis.stride > 1) {
    int64_t free = std::min(axis.divisibility, length), last;
    if (!llvm::MulOverflow(axis.stride - 1, axis.strideValue, last) &&
        last >= 0 && last < free)
      break;
    axis = axis.refined(axis.stride % 2 == 0 ? axis.stride / 2 : 1);
  }
  return axis;
}

bool mlir::triton_ext::analysis::wrapsForSure(const Axis &axis,
                                              unsigned width) {
  int64_t span;
  return llvm::MulOverflow(axis.stride - 1, axis.strideValue, span) ||
         !llvm::isIntN(width, span);
}

Axis Reading::withoutWrap(const Axis &axis) const {
  if (axis.strideValue == 0 ||
      (isSigned && width >= 32 && overflow == Overflow::Never &&
       !wrapsForSure(axis, width)))
    return axis;
  // Numbers of either sign wrap at a multiple of this.
  return cutToStretches(axis, int64_t(1) << std::min(62u, width - 1));
}

Axis mlir::triton_ext::analysis::growing(int64_t divisibility, int64_t stride,
                                         int64_t strideValue, unsigned width) {
  Axis axis{divisibility, stride, strideValue};
  return stride > 1 && llvm::isIntN(width, strideValue) ? axis
                                                        : axis.refined(1);
}

Axis mlir::triton_ext::analysis::addAxes(const Axis &a, const Axis &b,
                                         bool subtract, unsigned width) {
  int64_t step;
  bool overflows = subtract
                       ? llvm::SubOverflow(a.strideValue, b.strideValue, step)
                       : llvm::AddOverflow(a.strideValue, b.strideValue, step);
  if (overflows)
    return {std::min(a.divisibilityOfAll(), b.divisibilityOfAll()), 1, 0};
  return growing(std::min(a.divisibility, b.divisibility), a.stride, step,
                 width);
}

/// A product of divisibilities.
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? maxDivisibility
                                          : std::min(maxDivisibility, product);
}

Axis mlir::triton_ext::analysis::multiply(const Axis &a,
                                          const std::optional<APInt> &constantA,
                                          const Axis &b,
                                          const std::optional<APInt> &constantB,
                                          unsigned width) {
  int64_t starts = times(a.divisibility, b.divisibility);
  if (a.strideValue == 0 && b.strideValue == 0)
    return {starts, a.stride, 0};
  // How it grows is known only where it is known what it is multiplied by.
  const Axis &moving = a.strideValue ? a : b;
  const std::optional<APInt> &factor = a.strideValue ? constantB : constantA;
  int64_t step;
  if (!factor ||
      llvm::MulOverflow(moving.strideValue, factor->getSExtValue(), step) ||
      !llvm::isIntN(width, step))
    return {times(a.divisibilityOfAll(), b.divisibilityOfAll()), 1, 0};
  return {starts, a.stride, step};
}

Axis mlir::triton_ext::analysis::divide(const Axis &axis, int64_t divisor,
                                        bool isFloor, bool isSigned,
                                        unsigned width) {
  int64_t power = powerOfTwoIn(divisor);
  // Where it goes without a remainder.
  auto quotient = [&](int64_t divisibility) {
    return power == divisor ? std::max<int64_t>(1, divisibility / divisor) : 1;
  };
  if (axis.strideValue == 0)
    return {quotient(axis.divisibility), axis.stride, 0};
  Axis even = Reading{width, isSigned, Overflow::Wraps}.withoutWrap(axis);
  bool isExact = even.divisibility % divisor == 0;
  if (even.strideValue && even.strideValue % divisor == 0 &&
      (isExact || isFloor))
    return {isExact ? quotient(even.divisibility) : 1, even.stride,
            even.strideValue / divisor};
  Axis cut = isFloor ? cutToStretches(axis, power) : axis.refined(1);
  return {quotient(cut.divisibility), cut.stride, 0};
}

Axis mlir::triton_ext::analysis::remainder(const Axis &axis, int64_t divisor,
                                           bool isFloor) {
  int64_t power = powerOfTwoIn(divisor);
  // What is a multiple of a power of two more leaves the same.
  bool stays = power == divisor && axis.strideValue % divisor == 0;
  if (axis.strideValue == 0 || (isFloor && stays))
    return {std::min(axis.divisibility, power), axis.stride, 0};
  Axis cut = isFloor ? cutToStretches(axis, power) : axis.refined(1);
  return {std::min(cut.divisibility, power), cut.stride, cut.strideValue};
}

Axis mlir::triton_ext::analysis::maskBits(const Axis &axis, const APInt &mask) {
  // The bits from the lowest one on are those of a remainder.
  if (mask.isMask() && mask.getActiveBits() < 62 && !mask.isAllOnes())
    return remainder(axis, mask.getSExtValue() + 1, /*isFloor=*/true);
  // Below its lowest bit nothing is left of what changes in a group.
  int64_t power = powerOfTwoIn(mask.getSExtValue());
  Axis cut = axis.strideValue ? cutToStretches(axis, power) : axis;
  return {std::max(cut.divisibility, power), cut.stride, 0};
}

std::optional<APInt> mlir::triton_ext::analysis::foldIntegers(Operation *op,
                                                              const APInt &a,
                                                              const APInt &b) {
  using Result = std::optional<APInt>;
  bool divides = !b.isZero() && !(a.isMinSignedValue() && b.isAllOnes());
  bool shifts = b.ult(b.getBitWidth());
  auto where = [](bool isDefined, auto compute) -> Result {
    return isDefined ? Result(compute()) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) -> Result { return a + b; })
      .Case([&](arith::SubIOp) -> Result { return a - b; })
      .Case([&](arith::MulIOp) -> Result { return a * b; })
      .Case([&](arith::AndIOp) -> Result { return a & b; })
      .Case([&](arith::OrIOp) -> Result { return a | b; })
      .Case([&](arith::XOrIOp) -> Result { return a ^ b; })
      .Case([&](arith::MinSIOp) -> Result { return a.slt(b) ? a : b; })
      .Case([&](arith::MaxSIOp) -> Result { return a.sgt(b) ? a : b; })
      .Case([&](arith::MinUIOp) -> Result { return a.ult(b) ? a : b; })
      .Case([&](arith::MaxUIOp) -> Result { return a.ugt(b) ? a : b; })
      .Case([&](arith::CmpIOp compare) -> Result {
        return APInt(1, arith::applyCmpPredicate(compare.getPredicate(), a, b));
      })
      .Case([&](arith::DivSIOp) {
        return where(divides, [&] { return a.sdiv(b); });
      })
      .Case([&](arith::DivUIOp) {
        return where(!b.isZero(), [&] { return a.udiv(b); });
      })
      .Case([&](arith::RemSIOp) {
        return where(divides, [&] { return a.srem(b); });
      })
      .Case([&](arith::RemUIOp) {
        return where(!b.isZero(), [&] { return a.urem(b); });
      })
      .Case([&](arith::ShLIOp) {
        return where(shifts, [&] { return a.shl(b); });
      })
      .Case([&](arith::ShRSIOp) {
        return where(shifts, [&] { return a.ashr(b); });
      })
      .Case([&](arith::ShRUIOp) {
        return where(shifts, [&] { return a.lshr(b); });
      })
      .Default([](Operation *) { return std::nullopt; });
}
