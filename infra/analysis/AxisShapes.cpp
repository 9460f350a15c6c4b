// SPDX-License-Identifier: Apache-2.0
//
// Facts along dimensions after operations that move elements.

#include "analysis/AxisTransfer.h"
#include "analysis/Dimensions.h"

#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

/// Returns the facts of a tensor with this shape, flattened to one dimension.
static Axis flatten(ArrayRef<Axis> axes, ArrayRef<int64_t> shape,
                    int64_t divisibilityOfAll) {
  Axis line{divisibilityOfAll, 1, 0};
  int64_t size = 1;
  for (size_t dim = axes.size(); dim-- > 0;) {
    const Axis &axis = axes[dim];
    int64_t length = shape[dim];
    if (length == 1)
      continue;
    if (size == 1) {
      line = axis;
      size = length;
      continue;
    }
    // If each row continues the previous one with the same stride, all rows
    // form one group.
    int64_t step;
    if (line.stride != size ||
        llvm::MulOverflow(size, line.strideValue, step) ||
        axis.strideValue != step)
      break;
    line.divisibility = std::max(line.divisibility, axis.divisibility);
    line.stride = size * axis.stride;
    size *= length;
  }
  line.divisibility = std::max(line.divisibility, divisibilityOfAll);
  return line;
}

/// Returns the facts of a dimension that is folded into `shape`.
static SmallVector<Axis, 4> fold(const Axis &line, ArrayRef<int64_t> shape) {
  SmallVector<Axis, 4> axes;
  // The distance in the flattened tensor between neighbours along a dimension.
  int64_t apart = 1;
  for (int64_t size : llvm::reverse(shape)) {
    Axis axis{line.divisibilityOfAll(), 1, 0};
    int64_t step;
    if (size != 1 && line.stride % apart == 0 &&
        !llvm::MulOverflow(apart, line.strideValue, step)) {
      int64_t count = std::gcd(line.stride / apart, size);
      // A group starts at each of the `apart` elements of the flattened tensor
      // that precede the next neighbour.
      int64_t starts = line.refined(count * apart).divisibility;
      if (apart > 1)
        starts = std::min(starts, divisorOf(line.strideValue));
      if (count > 1)
        axis = {starts, count, step};
    }
    axes.push_back(axis);
    apart *= size;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

std::optional<AxisInfo>
mlir::triton_ext::analysis::transferShape(Operation *op,
                                          const AxisInfo &operand) {
  AxisInfo info = operand;
  int64_t ofAll = operand.divisibilityOfAll();
  Axis one{ofAll, 1, 0};
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  using Result = std::optional<AxisInfo>;
  // A tensor without dimensions has one axis here, as a scalar does. A reshape
  // adds or removes only dimensions of one element.
  if (isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp, tt::ReshapeOp>(op) &&
      (from.empty() || to.empty())) {
    info.axes.assign(std::max<size_t>(1, to.size()), one);
    return info;
  }
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::SplatOp) -> Result {
        info.axes.assign(std::max<size_t>(1, to.size()), one);
        for (auto [axis, size] : llvm::zip(info.axes, to))
          axis.stride = size;
        return info;
      })
      .Case([&](tt::UnsplatOp) -> Result {
        info.axes.assign(1, one);
        return info;
      })
      .Case([&](tt::BroadcastOp) -> Result {
        for (auto [axis, before, after] : llvm::zip_equal(info.axes, from, to))
          if (before != after)
            axis.stride = after;
        return info;
      })
      .Case([&](tt::ExpandDimsOp expand) -> Result {
        info.axes.insert(info.axes.begin() + expand.getAxis(), one);
        return info;
      })
      .Case([&](tt::TransOp transpose) -> Result {
        info.axes.clear();
        for (int32_t dim : transpose.getOrder())
          info.axes.push_back(operand.axes[dim]);
        return info;
      })
      .Case([&](tt::ReshapeOp reshape) -> Result {
        if (reshape.getAllowReorder())
          return std::nullopt;
        if (auto matched = matchDimensions(from, to)) {
          info.axes.clear();
          for (std::optional<unsigned> dim : *matched)
            info.axes.push_back(dim ? operand.axes[*dim] : one);
          return info;
        }
        info.axes = fold(flatten(operand.axes, from, ofAll), to);
        return info;
      })
      .Default([](Operation *) { return std::nullopt; });
}
