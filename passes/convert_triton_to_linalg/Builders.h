// SPDX-License-Identifier: Apache-2.0
//
// Creates tensors, constants and reshapes, for the patterns of several files.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_BUILDERS_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_BUILDERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::triton_ext::convert_triton_to_linalg {

inline RankedTensorType tensorOf(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element);
}

inline Value emptyOf(OpBuilder &builder, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

inline Value fill(OpBuilder &builder, Location loc, RankedTensorType type,
                  Value value) {
  return linalg::FillOp::create(builder, loc, value,
                                emptyOf(builder, loc, type))
      .getResult(0);
}

inline Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

/// Creates a constant of this type, a splat if it is a tensor.
inline Value constantOf(OpBuilder &builder, Location loc, Type type,
                        int64_t value) {
  Attribute attribute =
      builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, attribute);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
}

/// Returns a group for each kept dimension, together with the dropped
/// dimensions beside it. Returns no groups if no dimension is kept.
inline SmallVector<ReassociationIndices> groupsOf(ArrayRef<bool> dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (auto [dim, isDropped] : llvm::enumerate(dropped)) {
    if (isDropped && groups.empty()) {
      leading.push_back(dim);
      continue;
    }
    if (!isDropped) {
      groups.push_back(std::exchange(leading, {}));
      groups.back().push_back(dim);
      continue;
    }
    groups.back().push_back(dim);
  }
  return groups;
}

/// Returns one group of all dimensions.
inline SmallVector<ReassociationIndices> allInOne(int64_t rank) {
  return {llvm::to_vector(llvm::seq<int64_t>(0, rank))};
}

inline Value reshape(OpBuilder &builder, Location loc, Value value,
                     RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getShape() == type.getShape())
    return value;
  Type element = from.getElementType();
  // Reshape through a line of all elements. If one of the types has rank 0,
  // there is one element: reshape through a tensor of rank 0, without groups.
  bool isLine = from.getRank() != 0 && type.getRank() != 0;
  auto groups = [&](int64_t rank) {
    return isLine ? allInOne(rank) : SmallVector<ReassociationIndices>();
  };
  auto line =
      isLine ? tensorOf(from.getNumElements(), element) : tensorOf({}, element);
  if (from.getRank() != line.getRank())
    value = tensor::CollapseShapeOp::create(builder, loc, line, value,
                                            groups(from.getRank()));
  if (type.getRank() != line.getRank())
    value = tensor::ExpandShapeOp::create(builder, loc, type.clone(element),
                                          value, groups(type.getRank()));
  return value;
}

/// A slice of `size` elements of `whole` along `dim`, from `index` * `size` on.
struct Part {
  Part(OpBuilder &builder, RankedTensorType whole, int64_t dim, int64_t index,
       int64_t size) {
    for (int64_t d = 0; d < whole.getRank(); ++d) {
      offsets.push_back(builder.getIndexAttr(d == dim ? index * size : 0));
      sizes.push_back(
          builder.getIndexAttr(d == dim ? size : whole.getDimSize(d)));
      strides.push_back(builder.getIndexAttr(1));
    }
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_BUILDERS_H
