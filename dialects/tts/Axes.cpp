// SPDX-License-Identifier: Apache-2.0
//
// What pointers of `tts` look like along each dimension, for the analysis of
// infra/analysis.

#include "Tts.h"

#include "analysis/AxisTransfer.h"
#include "analysis/InferAxisInfo.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::analysis;

namespace {
/// Pointers are addresses, which are read modulo 2^64, so nothing here depends
/// on whether sums wrap around.
struct MakeTptrAxes
    : InferAxisInfo::ExternalModel<MakeTptrAxes, tts::MakeTptrOp> {
  void inferAxisInfo(Operation *op, ArrayRef<AxisInfo> operands, Overflow,
                     MutableArrayRef<AxisInfo> results) const;
};
} // namespace

void MakeTptrAxes::inferAxisInfo(Operation *op, ArrayRef<AxisInfo> operands,
                                 Overflow,
                                 MutableArrayRef<AxisInfo> results) const {
  auto make = cast<tts::MakeTptrOp>(op);
  int64_t bytes = bytesOfPointee(make.getBase().getType());
  if (bytes == 0)
    return;
  // Returns a power of two that divides a number.
  auto divisorOfNumber = [&](OpFoldResult number) {
    if (std::optional<int64_t> known = getConstantIntValue(number))
      return divisorOf(*known);
    auto operand = llvm::find(op->getOperands(), cast<Value>(number));
    return operands[operand - op->operand_begin()].divisibilityOfAll();
  };
  SmallVector<OpFoldResult> strides = make.getMixedStrides();
  SmallVector<OpFoldResult> offsets = make.getMixedOffsets();
  SmallVector<OpFoldResult> shape = make.getMixedShape();
  size_t rank = strides.size();
  SmallVector<bool> wraps(rank, false);
  // A divisor of all terms but those of the index, in elements, and of the
  // strides.
  int64_t common = maxDivisor;
  SmallVector<int64_t> divisors;
  for (size_t dim = 0; dim < rank; ++dim) {
    wraps[dim] = make.getOrder().empty() && !isConstantIntValue(shape[dim], 0);
    common = std::min(common, divisorOfNumber(offsets[dim]));
    // What divides the dividend and the divisor divides the remainder.
    if (wraps[dim])
      common = std::min(common, divisorOfNumber(shape[dim]));
    divisors.push_back(divisorOfNumber(strides[dim]));
  }
  int64_t base = operands.front().divisibilityOfAll();
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t size = make.getSizes()[dim], step = 0;
    std::optional<int64_t> stride = getConstantIntValue(strides[dim]);
    bool isStrided = !wraps[dim] && stride &&
                     !llvm::MulOverflow(*stride, bytes, step) && size > 1;
    int64_t divisor = common;
    // The first element of a group has index 0 along its own dimension.
    for (size_t other = 0; other < rank; ++other)
      if (other != dim || !isStrided)
        divisor = std::min(divisor, divisors[other]);
    divisor = std::min(base, multiplyDivisors(divisor, divisorOf(bytes)));
    results[0].axes[dim] =
        isStrided ? Axis{divisor, size, step} : Axis{divisor, 1, 0};
  }
}

void tts::TtsDialect::registerInterfaces() {
  MakeTptrOp::attachInterface<MakeTptrAxes>(*getContext());
}
