// SPDX-License-Identifier: Apache-2.0
//
// Conversions of types that leave the operation as it is.

#ifndef TRITON_EXT_RETYPE_H
#define TRITON_EXT_RETYPE_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::triton_ext {

/// Replaces an operation without regions by the same operation on `operands`,
/// with converted types of its results. Fails if a type cannot be converted.
inline LogicalResult retype(Operation *op, ValueRange operands,
                            const TypeConverter &converter,
                            ConversionPatternRewriter &rewriter) {
  SmallVector<Type> types;
  if (failed(converter.convertTypes(op->getResultTypes(), types)))
    return failure();
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs(), op->getSuccessors());
  rewriter.replaceOp(op, rewriter.create(state)->getResults());
  return success();
}

/// Retypes operations of one kind, such as selects between pointers.
template <typename OpTy> struct RetypePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return retype(op, adaptor.getOperands(), *this->getTypeConverter(),
                  rewriter);
  }
};

} // namespace mlir::triton_ext

#endif // TRITON_EXT_RETYPE_H
