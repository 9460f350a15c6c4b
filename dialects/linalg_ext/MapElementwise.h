// SPDX-License-Identifier: Apache-2.0
//
// Rewrites elementwise operations on tensors to linalg.map, for conversions to
// linalg. Header only, so that a user needs linalg but not the library of
// linalg_ext.

#ifndef TRITON_EXT_LINALG_EXT_MAPELEMENTWISE_H
#define TRITON_EXT_LINALG_EXT_MAPELEMENTWISE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::triton_ext::linalg_ext {

/// Creates an empty tensor with the shape of `like` and this element type.
inline Value createEmptyLike(OpBuilder &builder, Location loc, Value like,
                             Type element) {
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), element);
}

/// Returns whether `op` is elementwise on tensors of one shape and has one
/// result. A scalar operand applies to all elements. Operations with several
/// results are excluded, because the short form of linalg.map does not tell
/// which result it yields.
inline bool isElementwiseOnTensors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Replaces such an operation by a linalg.map whose body is the same operation
/// on scalars.
inline void mapElementwise(Operation *op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs(
      llvm::make_filter_range(op->getOperands(), [](Value operand) {
        return isa<RankedTensorType>(operand.getType());
      }));
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  Value init = createEmptyLike(rewriter, op->getLoc(), inputs.front(), element);
  auto map = linalg::MapOp::create(
      rewriter, op->getLoc(), inputs, init,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Value> operands;
        for (Value operand : op->getOperands()) {
          bool mapped = isa<RankedTensorType>(operand.getType());
          operands.push_back(mapped ? arguments.front() : operand);
          if (mapped)
            arguments = arguments.drop_front();
        }
        OperationState state(loc, op->getName(), operands, element,
                             op->getAttrs());
        linalg::YieldOp::create(builder, loc,
                                builder.create(state)->getResult(0));
      });
  rewriter.replaceOp(op, map->getResults());
}

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_MAPELEMENTWISE_H
