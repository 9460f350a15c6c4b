// SPDX-License-Identifier: Apache-2.0
//
// Takes a mask apart into a box and masks that are not boxes.

#include "analysis/Dimensions.h"
#include "analysis/LineTracker.h"
#include "analysis/MaskTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

SplitMask mlir::triton_ext::analysis::splitMask(
    Value mask, function_ref<bool(const Box &)> accept, IndexMath &math) {
  ArrayRef<int64_t> shape = shapeOf(mask);
  std::optional<Box> box = trackMask(mask, math);
  if (box && accept(*box))
    return {*box, {}};
  SplitMask unsplit{wholeOf(shape, math), {mask}};
  Operation *op = mask.getDefiningOp();
  if (!op || !math.spend())
    return unsplit;
  auto both = [&](Value a, Value b) {
    SplitMask lhs = splitMask(a, accept, math);
    SplitMask rhs = splitMask(b, accept, math);
    SplitMask result{intersect(lhs.box, rhs.box, shape, math), lhs.rest};
    llvm::append_range(result.rest, rhs.rest);
    return result;
  };
  if (auto conjunction = dyn_cast<arith::AndIOp>(op))
    return both(conjunction.getLhs(), conjunction.getRhs());
  auto select = dyn_cast<arith::SelectOp>(op);
  if (select && matchPattern(select.getFalseValue(), m_Zero()) &&
      !shapeOf(select.getCondition()).empty())
    return both(select.getCondition(), select.getTrueValue());
  if (!isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(op))
    return unsplit;
  // The bounds after the change of shape have to be accepted, too, so the
  // change is made for each mask that the operand is the conjunction of.
  SplitMask operand =
      splitMask(op->getOperand(0), [](const Box &) { return false; }, math);
  if (operand.rest.size() == 1)
    return unsplit;
  SplitMask result{wholeOf(shape, math), {}};
  for (Value part : operand.rest) {
    SplitMask whole = splitMask(rebuildOn(op, part, math), accept, math);
    result.box = intersect(result.box, whole.box, shape, math);
    llvm::append_range(result.rest, whole.rest);
  }
  return result;
}
