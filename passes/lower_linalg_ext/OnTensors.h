// SPDX-License-Identifier: Apache-2.0
//
// Replaces operations in destination style on memrefs by the same operations on
// tensors, so that each operation needs only one lowering.

#ifndef TRITON_EXT_LOWERLINALGEXT_ONTENSORS_H
#define TRITON_EXT_LOWERLINALGEXT_ONTENSORS_H

#include "Arrays.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::triton_ext::lower_linalg_ext {

inline bool isOnTensors(Operation *op) {
  return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
}

/// Creates the same operation on tensors, which are read from the memrefs and,
/// if they are written, stored back.
template <typename OpTy> struct OnTensors : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (isOnTensors(op))
      return failure();
    Location loc = op.getLoc();
    Values operands(op->getOperands());
    for (Value &operand : operands) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (type)
        operand = bufferization::ToTensorOp::create(
            rewriter, loc,
            RankedTensorType::get(type.getShape(), type.getElementType()),
            operand, /*restrict=*/true, /*writable=*/true);
    }
    SmallVector<Type> types;
    for (OpOperand &init : op.getDpsInitsMutable())
      types.push_back(operands[init.getOperandNumber()].getType());
    OperationState state(loc, op->getName(), operands, types, op->getAttrs());
    for (Region &region : op->getRegions())
      rewriter.inlineRegionBefore(region, *state.addRegion(),
                                  state.regions.back()->end());
    Operation *onTensors = rewriter.create(state);
    Values results;
    for (auto [init, result] :
         llvm::zip(op.getDpsInitsMutable(), onTensors->getResults())) {
      if (isa<MemRefType>(init.get().getType()))
        bufferization::MaterializeInDestinationOp::create(
            rewriter, loc, /*result=*/Type(), result, init.get(),
            /*restrict=*/true, /*writable=*/true);
      else
        results.push_back(result);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_ONTENSORS_H
