// SPDX-License-Identifier: Apache-2.0
//
// Tracks tensors backward to tensors of one dimension. An operation without a
// rule here ends the track.

#include "analysis/LineTracker.h"
#include "analysis/OffsetMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

static bool isShapeChange(Operation *op) {
  return isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(op);
}

/// Makes an elementwise operation anew on the lines of its operands.
static std::optional<Line> rebuildOnLines(Operation *op, IndexMath &math) {
  OpBuilder &builder = math.builder;
  SmallVector<Line> lines;
  std::optional<unsigned> dim;
  for (Value operand : op->getOperands()) {
    std::optional<Line> line = Line{operand, std::nullopt};
    if (isa<RankedTensorType>(operand.getType()))
      line = trackLine(operand, math);
    if (!line || (dim && line->dim && dim != line->dim))
      return std::nullopt;
    if (line->dim)
      dim = line->dim;
    lines.push_back(*line);
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto typeOf = [&](Type element) -> Type {
    if (!dim)
      return element;
    return RankedTensorType::get(type.getDimSize(*dim), element);
  };
  SmallVector<Value> operands;
  for (auto [line, operand] : llvm::zip_equal(lines, op->getOperands())) {
    bool isTensor = isa<RankedTensorType>(operand.getType());
    if (isTensor && dim && !line.dim)
      line.value = tt::SplatOp::create(
          builder, math.loc, typeOf(line.value.getType()), line.value);
    operands.push_back(line.value);
  }
  OperationState state(op->getLoc(), op->getName(), operands,
                       typeOf(type.getElementType()), op->getAttrs());
  return Line{builder.create(state)->getResult(0), dim};
}

std::optional<Line> mlir::triton_ext::analysis::trackLine(Value value,
                                                          IndexMath &math) {
  auto type = cast<RankedTensorType>(value.getType());
  SplatElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant) {
    auto number = cast<TypedAttr>(constant.getSplatValue<Attribute>());
    return Line{arith::ConstantOp::create(math.builder, math.loc, number),
                std::nullopt};
  }
  Operation *op = value.getDefiningOp();
  if (auto splat = dyn_cast_or_null<tt::SplatOp>(op))
    return Line{splat.getSrc(), std::nullopt};
  if (type.getRank() == 1)
    return Line{value, 0};
  if (!op || !math.spend())
    return std::nullopt;
  if (isShapeChange(op)) {
    Value operand = op->getOperand(0);
    auto line = trackLine(operand, math);
    if (!line || !line->dim)
      return line;
    std::optional<unsigned> dim = reshapeDimension(op, *line->dim);
    // A broadcast of the only element is not a line of it.
    if (!dim || shapeOf(operand)[*line->dim] != type.getDimSize(*dim))
      return std::nullopt;
    line->dim = dim;
    return line;
  }
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
      op->getNumRegions() != 0 || !isPure(op))
    return std::nullopt;
  return rebuildOnLines(op, math);
}

Value mlir::triton_ext::analysis::rebuildOn(Operation *op, Value operand,
                                            IndexMath &math) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isShapeChange(op))
    type = type.clone(getElementTypeOrSelf(operand.getType()));
  SmallVector<Value> operands(op->getOperands());
  operands[0] = operand;
  OperationState state(op->getLoc(), op->getName(), operands, type,
                       op->getAttrs());
  return math.builder.create(state)->getResult(0);
}

SmallVector<Value> mlir::triton_ext::analysis::getSummands(Value value,
                                                           IndexMath &math) {
  Operation *op = value.getDefiningOp();
  unsigned bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  if (!op || !math.spend())
    return {value};
  if (isa<arith::AddIOp>(op) && bits >= 32) {
    SmallVector<Value> result = getSummands(op->getOperand(0), math);
    llvm::append_range(result, getSummands(op->getOperand(1), math));
    return result;
  }
  bool isScaling = false;
  if (isa<arith::MulIOp>(op) && bits >= 32) {
    auto factor = trackLine(op->getOperand(1), math);
    isScaling = factor && !factor->dim;
  }
  if (!isScaling && !isShapeChange(op) && !isa<arith::ExtSIOp>(op))
    return {value};
  SmallVector<Value> result = getSummands(op->getOperand(0), math);
  if (result.size() == 1)
    return {value};
  for (Value &summand : result)
    summand = rebuildOn(op, summand, math);
  return result;
}
