// SPDX-License-Identifier: Apache-2.0
//
// Moves tensor.extract: computes one element of a tensor from the elements of
// the operands of the operation that computes it.

#include "Moves.h"

#include "linalg_ext/LinalgExt.h"
#include "linalg_ext/MapElementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::extract_like_move_backward;

namespace {

/// Computes single elements of tensors.
struct Extractor {
  OpBuilder &builder;
  Location loc;
  /// Extracts that were created on the way and may move further.
  SmallVector<Operation *> &made;

  Value extract(Value tensor, ValueRange indices) {
    auto op = tensor::ExtractOp::create(builder, loc, tensor, indices);
    made.push_back(op);
    return op;
  }

  /// Returns the element, or null if the extract has to stay.
  Value compute(Operation *op, OpResult result, ValueRange indices);
  Value computeElementwise(Operation *op, OpResult result, ValueRange indices);
  Value computeMap(linalg::MapOp map, ValueRange indices);
  Value computeRange(linalg_ext::MakeRangeOp range, Value index);
  Value computeReshape(Value source, RankedTensorType from, RankedTensorType to,
                       ValueRange indices);
  Value scale(Value index, int64_t factor) {
    Value number = arith::ConstantIndexOp::create(builder, loc, factor);
    return builder.createOrFold<arith::MulIOp>(loc, index, number);
  }
};

} // namespace

Value Extractor::computeElementwise(Operation *op, OpResult result,
                                    ValueRange indices) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType())
                           ? extract(operand, indices)
                           : operand);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(cast<RankedTensorType>(type).getElementType());
  Operation *scalar = builder.create(
      OperationState(loc, op->getName(), operands, types, op->getAttrs()));
  return scalar->getResult(result.getResultNumber());
}

Value Extractor::computeMap(linalg::MapOp map, ValueRange indices) {
  if (!dependsOnInputsOnly(map))
    return {};
  Block *body = map.getBody();
  IRMapping mapping;
  for (auto [argument, input] :
       llvm::zip(body->getArguments(), map.getDpsInputs()))
    mapping.map(argument, extract(input, indices));
  for (Operation &op : body->without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
}

Value Extractor::computeRange(linalg_ext::MakeRangeOp range, Value index) {
  Value start = range.getStart();
  Value offset =
      arith::IndexCastOp::create(builder, loc, start.getType(), index);
  return arith::AddIOp::create(builder, loc, start, offset);
}

/// `source` has the same elements in another shape.
Value Extractor::computeReshape(Value source, RankedTensorType from,
                                RankedTensorType to, ValueRange indices) {
  // The size of the outermost dimension is not needed.
  auto isKnown = [](RankedTensorType type) {
    return type.getRank() == 0 ||
           !ShapedType::isDynamicShape(type.getShape().drop_front());
  };
  if (!isKnown(from) || !isKnown(to))
    return {};
  // The index of the element in the flattened tensor.
  Value linear;
  for (auto [index, size] : llvm::zip_equal(indices, to.getShape())) {
    if (size == 1)
      continue;
    linear = linear ? builder.createOrFold<arith::AddIOp>(
                          loc, scale(linear, size), index)
                    : index;
  }
  SmallVector<Value> position(from.getRank());
  for (int64_t dim = from.getRank(); dim-- > 0;) {
    int64_t size = from.getDimSize(dim);
    bool isOutermost = llvm::all_of(from.getShape().take_front(dim),
                                    [](int64_t outer) { return outer == 1; });
    if (size == 1 || !linear) {
      position[dim] = arith::ConstantIndexOp::create(builder, loc, 0);
    } else if (isOutermost) {
      position[dim] = linear;
    } else {
      Value divisor = arith::ConstantIndexOp::create(builder, loc, size);
      position[dim] =
          builder.createOrFold<arith::RemUIOp>(loc, linear, divisor);
      linear = builder.createOrFold<arith::DivUIOp>(loc, linear, divisor);
    }
  }
  return extract(source, position);
}

Value Extractor::compute(Operation *op, OpResult result, ValueRange indices) {
  if (linalg_ext::isElementwiseOnTensors(op) && isPure(op))
    return computeElementwise(op, result, indices);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](linalg::FillOp fill) -> Value {
        Value value = fill.getInputs()[0];
        bool converts =
            value.getType() != getElementTypeOrSelf(result.getType());
        return converts ? Value() : value;
      })
      .Case([&](linalg::MapOp map) { return computeMap(map, indices); })
      .Case([&](linalg::CopyOp copy) -> Value {
        Value input = copy.getInputs()[0];
        // A copy of a tensor of memory is the load itself.
        if (input.getType() != result.getType() ||
            !isa_and_nonnull<linalg::LinalgDialect, arith::ArithDialect>(
                input.getDefiningOp() ? input.getDefiningOp()->getDialect()
                                      : nullptr))
          return {};
        return extract(input, indices);
      })
      .Case([&](linalg::BroadcastOp broadcast) {
        SmallVector<Value> kept;
        for (auto [dim, index] : llvm::enumerate(indices))
          if (!llvm::is_contained(broadcast.getDimensions(), int64_t(dim)))
            kept.push_back(index);
        return extract(broadcast.getInput(), kept);
      })
      .Case([&](linalg::TransposeOp transpose) {
        SmallVector<Value> permuted(indices.size());
        for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
          permuted[from] = indices[to];
        return extract(transpose.getInput(), permuted);
      })
      .Case([&](linalg_ext::MakeRangeOp range) {
        return computeRange(range, indices[0]);
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](auto reshape) {
        return computeReshape(reshape.getSrc(), reshape.getSrcType(),
                              reshape.getResultType(), indices);
      })
      .Default([](Operation *) { return Value(); });
}

Value mlir::triton_ext::extract_like_move_backward::computeElement(
    tensor::ExtractOp op, SmallVector<Operation *> &made) {
  OpBuilder builder(op);
  auto result = cast<OpResult>(op.getTensor());
  return Extractor{builder, op.getLoc(), made}.compute(result.getOwner(),
                                                       result, op.getIndices());
}
