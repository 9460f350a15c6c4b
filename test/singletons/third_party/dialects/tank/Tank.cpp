// SPDX-License-Identifier: Apache-2.0

#include "Tank.h"

#include "Tank.cpp.inc"

using namespace mlir::triton_ext;

void tank::AlignOp::inferAxisInfo(
    llvm::ArrayRef<analysis::AxisInfo> operands, analysis::Overflow,
    llvm::MutableArrayRef<analysis::AxisInfo> results) {
  results[0] = operands[0];
  for (analysis::Axis &axis : results[0].axes)
    axis.divisibility =
        std::max(axis.divisibility, analysis::divisorOf(getBytes()));
}
