// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on the facts along one dimension. Everything holds modulo 2^width;
// where an operation reads its operands as numbers, as divisions and extensions
// do, groups are cut so that they do not wrap.

#include "analysis/AxisTransfer.h"

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
  // Signed and unsigned numbers wrap around at multiples of this number.
  int64_t boundary = int64_t(1) << std::min(maxDivisorLog2, width - 1);
  return cutToStretches(axis, boundary);
}

Growth mlir::triton_ext::analysis::growBy(int64_t stride, int64_t strideValue,
                                          unsigned width) {
  return stride > 1 && llvm::isIntN(width, strideValue)
             ? Growth{stride, strideValue}
             : Growth();
}

Growth mlir::triton_ext::analysis::growthOfSum(const Axis &a, const Axis &b,
                                               bool subtract, unsigned width) {
  int64_t step;
  bool overflows = subtract
                       ? llvm::SubOverflow(a.strideValue, b.strideValue, step)
                       : llvm::AddOverflow(a.strideValue, b.strideValue, step);
  return overflows ? Growth() : growBy(a.stride, step, width);
}

Growth mlir::triton_ext::analysis::growthOfProduct(
    const Axis &a, const std::optional<APInt> &constantA, const Axis &b,
    const std::optional<APInt> &constantB, unsigned width) {
  if (a.strideValue == 0 && b.strideValue == 0)
    return {a.stride, 0};
  // The stride of a product is known only if the other factor is known.
  const Axis &moving = a.strideValue ? a : b;
  const std::optional<APInt> &factor = a.strideValue ? constantB : constantA;
  int64_t step;
  if (!factor ||
      llvm::MulOverflow(moving.strideValue, factor->getSExtValue(), step))
    return {};
  return growBy(a.stride, step, width);
}

Growth mlir::triton_ext::analysis::growthOfQuotient(const Axis &axis,
                                                    int64_t divisor,
                                                    bool isFloor, bool isSigned,
                                                    unsigned width) {
  if (axis.strideValue == 0)
    return {axis.stride, 0};
  Axis even = Reading{width, isSigned, Overflow::Wraps}.withoutWrap(axis);
  bool isExact = even.divisibility % divisor == 0;
  if (even.strideValue && even.strideValue % divisor == 0 &&
      (isExact || isFloor))
    return {even.stride, even.strideValue / divisor};
  // Up to the next multiple of the divisor the quotient stays the same.
  Axis cut =
      isFloor ? cutToStretches(axis, divisorOf(divisor)) : axis.refined(1);
  return {cut.stride, 0};
}

Growth mlir::triton_ext::analysis::growthOfRemainder(const Axis &axis,
                                                     int64_t divisor,
                                                     bool isFloor) {
  int64_t power = divisorOf(divisor);
  // Numbers that differ by a multiple of the power of two have the same
  // remainder.
  bool stays = power == divisor && axis.strideValue % divisor == 0;
  if (axis.strideValue == 0 || (isFloor && stays))
    return {axis.stride, 0};
  Axis cut = isFloor ? cutToStretches(axis, power) : axis.refined(1);
  return {cut.stride, cut.strideValue};
}

Growth mlir::triton_ext::analysis::growthOfMasked(const Axis &axis,
                                                  const APInt &mask) {
  if (mask.isAllOnes())
    return {axis.stride, axis.strideValue};
  // The lowest bits are the remainder by a power of two.
  if (mask.isMask() && mask.getActiveBits() < maxDivisorLog2)
    return growthOfRemainder(axis, mask.getSExtValue() + 1, /*isFloor=*/true);
  // In a group that crosses no multiple of the mask's lowest bit, only bits
  // below that one change, and the mask clears them.
  Axis cut = axis.strideValue ? cutToStretches(axis, divisorOf(mask)) : axis;
  return {cut.stride, 0};
}
