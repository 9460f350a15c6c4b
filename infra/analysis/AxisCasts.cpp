// SPDX-License-Identifier: Apache-2.0
//
// Casts of integers and pointers, and sums of pointers and offsets, which
// extend the offsets to 64 bits first.

#include "analysis/AxisTransfer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

unsigned mlir::triton_ext::analysis::widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
}

int64_t mlir::triton_ext::analysis::bytesOfPointee(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(getElementTypeOrSelf(type));
  if (!pointer)
    return 0;
  // An i1 in memory is a byte.
  return llvm::divideCeil(pointer.getPointeeType().getIntOrFloatBitWidth(), 8);
}

/// Returns the facts of integers of `from` bits that are cast to `to` bits.
static AxisInfo convert(const AxisInfo &info, unsigned from, unsigned to,
                        bool isSigned, Overflow overflow) {
  AxisInfo result;
  if (info.constant)
    result.constant = isSigned ? info.constant->sextOrTrunc(to)
                               : info.constant->zextOrTrunc(to);
  for (Axis axis : info.axes) {
    if (to > from)
      axis = Reading{from, isSigned, overflow}.withoutWrap(axis);
    // A cast keeps the divisor.
    Growth growth = growBy(axis.stride, axis.strideValue, to);
    int64_t starts = axis.refined(growth.stride).divisibility;
    result.axes.push_back({starts, growth.stride, growth.strideValue});
  }
  return result;
}

static AxisInfo addOffsets(tt::AddPtrOp op, ArrayRef<AxisInfo> operands,
                           Overflow overflow) {
  Type type = op.getType();
  int64_t bytes = bytesOfPointee(type);
  AxisInfo offsets = convert(operands[1], widthOf(op.getOffset().getType()),
                             /*to=*/64, /*isSigned=*/true, overflow);
  AxisInfo result;
  for (auto [pointer, offset] :
       llvm::zip_equal(operands[0].axes, offsets.axes)) {
    Axis size{divisorOf(bytes), offset.stride, 0};
    Growth growth = growthOfProduct(offset, offsets.constant, size,
                                    APInt(64, bytes), /*width=*/64);
    int64_t starts = multiplyDivisors(
        offset.refined(growth.stride).divisibility, size.divisibility);
    Axis moved{starts, growth.stride, growth.strideValue};
    int64_t stride = std::gcd(pointer.stride, moved.stride);
    Axis base = pointer.refined(stride);
    moved = moved.refined(stride);
    growth = growthOfSum(base, moved, /*subtract=*/false, /*width=*/64);
    starts = std::min(base.refined(growth.stride).divisibility,
                      moved.refined(growth.stride).divisibility);
    result.axes.push_back({starts, growth.stride, growth.strideValue});
  }
  return result;
}

std::optional<AxisInfo> mlir::triton_ext::analysis::transferCast(
    Operation *op, ArrayRef<AxisInfo> operands, Overflow overflow) {
  using Result = std::optional<AxisInfo>;
  auto cast = [&](bool isSigned) {
    return convert(operands[0], widthOf(op->getOperand(0).getType()),
                   widthOf(op->getResult(0).getType()), isSigned, overflow);
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(
          [&](auto) { return cast(/*isSigned=*/true); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return cast(/*isSigned=*/false); })
      .Case<tt::PtrToIntOp, tt::IntToPtrOp>([&](auto) {
        AxisInfo info = cast(/*isSigned=*/false);
        info.constant = std::nullopt;
        return info;
      })
      .Case(
          [&](tt::AddPtrOp add) { return addOffsets(add, operands, overflow); })
      .Case([&](tt::BitcastOp bitcast) -> Result {
        // The address stays the same.
        if (bytesOfPointee(bitcast.getType()) == 0 ||
            bytesOfPointee(bitcast.getSrc().getType()) == 0)
          return std::nullopt;
        return operands[0];
      })
      .Default([](Operation *) { return std::nullopt; });
}
