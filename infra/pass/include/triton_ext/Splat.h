// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose elements are all the same value.

#ifndef TRITON_EXT_SPLAT_H
#define TRITON_EXT_SPLAT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext {

/// Returns the value of all elements of a splat constant, or null for other
/// values.
inline TypedAttr getSplatConstant(Value tensor) {
  SplatElementsAttr elements;
  if (!isa<RankedTensorType>(tensor.getType()) ||
      !matchPattern(tensor, m_Constant(&elements)) || !elements)
    return {};
  return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

/// Returns whether `tensor` is a `tt.splat` or such a constant.
inline bool isSplat(Value tensor) {
  return tensor.getDefiningOp<triton::SplatOp>() || getSplatConstant(tensor);
}

/// Returns the value of all elements of such a tensor, or null for others. The
/// value of a constant is a new operation, which `builder` makes.
inline Value getSplat(Value tensor, OpBuilder &builder) {
  if (auto splat = tensor.getDefiningOp<triton::SplatOp>())
    return splat.getSrc();
  if (TypedAttr constant = getSplatConstant(tensor))
    return arith::ConstantOp::create(builder, tensor.getLoc(), constant);
  return {};
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_SPLAT_H
