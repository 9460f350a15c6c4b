// SPDX-License-Identifier: Apache-2.0
//
// Moves tensor.extract_slice: computes a slice of a tensor from slices of the
// operands of the operation that computes it.

#include "Moves.h"

#include "linalg_ext/LinalgExt.h"
#include "linalg_ext/MapElementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::extract_like_move_backward;

namespace {
using Numbers = SmallVector<OpFoldResult>;

/// A part of an array.
struct Part {
  Numbers offsets, sizes, strides;

  void append(OpFoldResult offset, OpFoldResult size, OpFoldResult stride) {
    offsets.push_back(offset);
    sizes.push_back(size);
    strides.push_back(stride);
  }
};

/// Computes slices of tensors, none of which drops a dimension.
struct Slicer {
  OpBuilder &builder;
  Location loc;
  Part part;
  SmallVector<Operation *> &made;

  Value slice(Value tensor, const Part &part) {
    auto op = tensor::ExtractSliceOp::create(builder, loc, tensor, part.offsets,
                                             part.sizes, part.strides);
    made.push_back(op);
    return op;
  }
  Value empty(Type tensor) {
    return tensor::EmptyOp::create(builder, loc, part.sizes,
                                   getElementTypeOrSelf(tensor));
  }
  RankedTensorType typeOf(Type tensor) {
    SmallVector<int64_t> shape;
    // A size that is a value is dynamic in the type, even if it is constant.
    for (OpFoldResult size : part.sizes)
      shape.push_back(isa<Value>(size) ? ShapedType::kDynamic
                                       : *getConstantIntValue(size));
    return RankedTensorType::get(shape, getElementTypeOrSelf(tensor));
  }
  /// Returns the slice, or null if it has to stay.
  Value compute(Operation *op);
  Value computeElementwise(Operation *op);
  Value computeMap(linalg::MapOp map);
  Value computeBroadcast(linalg::BroadcastOp broadcast);
  Value computeTranspose(linalg::TransposeOp transpose);
  Value computeRange(linalg_ext::MakeRangeOp range);
  Value computeExpand(tensor::ExpandShapeOp expand);
  Value computeCollapse(tensor::CollapseShapeOp collapse);
};
} // namespace

Value Slicer::computeElementwise(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType())
                           ? slice(operand, part)
                           : operand);
  Type type = typeOf(op->getResult(0).getType());
  return builder
      .create(
          OperationState(loc, op->getName(), operands, type, op->getAttrs()))
      ->getResult(0);
}

Value Slicer::computeMap(linalg::MapOp map) {
  if (!dependsOnInputsOnly(map))
    return {};
  SmallVector<Value> operands;
  for (Value input : map.getDpsInputs())
    operands.push_back(slice(input, part));
  Type type = map->getResult(0).getType();
  operands.push_back(empty(type));
  return clone(builder, map, TypeRange(typeOf(type)), operands)->getResult(0);
}

Value Slicer::computeBroadcast(linalg::BroadcastOp broadcast) {
  Part kept;
  for (size_t dim = 0; dim < part.sizes.size(); ++dim)
    if (!llvm::is_contained(broadcast.getDimensions(), int64_t(dim)))
      kept.append(part.offsets[dim], part.sizes[dim], part.strides[dim]);
  Value input = slice(broadcast.getInput(), kept);
  return linalg::BroadcastOp::create(builder, loc, input,
                                     empty(broadcast.getInit().getType()),
                                     broadcast.getDimensions())
      ->getResult(0);
}

Value Slicer::computeTranspose(linalg::TransposeOp transpose) {
  Part permuted = part;
  for (auto [to, from] : llvm::enumerate(transpose.getPermutation())) {
    permuted.offsets[from] = part.offsets[to];
    permuted.sizes[from] = part.sizes[to];
    permuted.strides[from] = part.strides[to];
  }
  Value input = slice(transpose.getInput(), permuted);
  return linalg::TransposeOp::create(builder, loc, input,
                                     empty(transpose.getInit().getType()),
                                     transpose.getPermutation())
      ->getResult(0);
}

Value Slicer::computeRange(linalg_ext::MakeRangeOp range) {
  // A range has steps of 1, and is not empty.
  if (!isConstantIntValue(part.strides[0], 1) ||
      isConstantIntValue(part.sizes[0], 0))
    return {};
  auto add = [&](Value integer, OpFoldResult index) {
    Value number = getValueOrCreateConstantIndexOp(builder, loc, index);
    Value cast = builder.createOrFold<arith::IndexCastOp>(
        loc, integer.getType(), number);
    return builder.createOrFold<arith::AddIOp>(loc, integer, cast);
  };
  Value start = add(range.getStart(), part.offsets[0]);
  SmallVector<Value> operands{start, add(start, part.sizes[0]),
                              empty(range.getInit().getType())};
  return clone(builder, range, TypeRange(operands.back().getType()), operands)
      ->getResult(0);
}

/// Returns the only dimension of the group that is not 1; -1 if all are 1, and
/// nothing if several are not.
static std::optional<int64_t> getLongDim(ArrayRef<int64_t> group,
                                         ArrayRef<int64_t> shape) {
  int64_t found = -1;
  for (int64_t dim : group) {
    if (shape[dim] == 1)
      continue;
    if (found >= 0)
      return std::nullopt;
    found = dim;
  }
  return found;
}

Value Slicer::computeExpand(tensor::ExpandShapeOp expand) {
  Part source;
  ArrayRef<int64_t> shape = expand.getResultType().getShape();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  for (ArrayRef<int64_t> group : expand.getReassociationIndices()) {
    std::optional<int64_t> dim = getLongDim(group, shape);
    if (!dim)
      return {};
    // An empty slice of a dimension of one element has no such source.
    for (int64_t other : group)
      if (other != *dim && !isConstantIntValue(part.sizes[other], 1))
        return {};
    if (*dim < 0)
      source.append(zero, one, one);
    else
      source.append(part.offsets[*dim], part.sizes[*dim], part.strides[*dim]);
  }
  Value input = slice(expand.getSrc(), source);
  return tensor::ExpandShapeOp::create(builder, loc, typeOf(expand.getType()),
                                       input, expand.getReassociationIndices(),
                                       part.sizes);
}

Value Slicer::computeCollapse(tensor::CollapseShapeOp collapse) {
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Part source;
  source.offsets.assign(shape.size(), zero);
  source.sizes.assign(shape.size(), one);
  source.strides.assign(shape.size(), one);
  for (auto [to, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    std::optional<int64_t> dim = getLongDim(group, shape);
    if (!dim || (*dim < 0 && !isConstantIntValue(part.sizes[to], 1)))
      return {};
    if (*dim < 0)
      continue;
    source.offsets[*dim] = part.offsets[to];
    source.sizes[*dim] = part.sizes[to];
    source.strides[*dim] = part.strides[to];
  }
  Value input = slice(collapse.getSrc(), source);
  return tensor::CollapseShapeOp::create(builder, loc,
                                         typeOf(collapse.getType()), input,
                                         collapse.getReassociationIndices());
}

Value Slicer::compute(Operation *op) {
  if (linalg_ext::isElementwiseOnTensors(op) && isPure(op))
    return computeElementwise(op);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](linalg::FillOp fill) -> Value {
        Type type = fill.getResult(0).getType();
        if (fill.getInputs()[0].getType() != getElementTypeOrSelf(type))
          return {};
        return linalg::FillOp::create(builder, loc, fill.getInputs(),
                                      empty(type))
            .getResult(0);
      })
      .Case([&](linalg::MapOp map) { return computeMap(map); })
      .Case([&](linalg::BroadcastOp op) { return computeBroadcast(op); })
      .Case([&](linalg::TransposeOp op) { return computeTranspose(op); })
      .Case([&](linalg_ext::MakeRangeOp op) { return computeRange(op); })
      .Case([&](tensor::ExpandShapeOp op) { return computeExpand(op); })
      .Case([&](tensor::CollapseShapeOp op) { return computeCollapse(op); })
      .Default([](Operation *) { return Value(); });
}

Value mlir::triton_ext::extract_like_move_backward::dropDims(
    OpBuilder &builder, tensor::ExtractSliceOp op, Value slice) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  if (dropped.none())
    return slice;
  SmallVector<ReassociationIndices> groups;
  // A dropped dimension joins the one before it, or the first one that is kept.
  bool isOpen = false;
  for (int64_t dim = 0, rank = dropped.size(); dim < rank; ++dim) {
    if (groups.empty() || (!dropped[dim] && !isOpen))
      groups.emplace_back();
    isOpen = dropped[dim] && (isOpen || dim == 0);
    groups.back().push_back(dim);
  }
  if (op.getType().getRank() == 0)
    groups.clear();
  return tensor::CollapseShapeOp::create(builder, op.getLoc(), op.getType(),
                                         slice, groups);
}

Value mlir::triton_ext::extract_like_move_backward::computeSlice(
    tensor::ExtractSliceOp op, SmallVector<Operation *> &made) {
  OpBuilder builder(op);
  Part part{op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()};
  Slicer slicer{builder, op.getLoc(), part, made};
  Value slice = slicer.compute(op.getSource().getDefiningOp());
  return slice ? dropDims(builder, op, slice) : Value();
}
