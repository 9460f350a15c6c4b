// SPDX-License-Identifier: Apache-2.0
//
// What the patterns of several files make: tensors, constants, changes of
// shape, bodies.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_BUILDERS_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_BUILDERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

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

/// A constant, or a tensor of it.
inline Value constantOf(OpBuilder &builder, Location loc, Type type,
                        int64_t value) {
  Attribute attribute =
      builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, attribute);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
}

/// One group for each dimension that is kept, with those beside it that are
/// dropped; no group if none is kept.
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

/// All dimensions as one group.
inline SmallVector<ReassociationIndices> allInOne(int64_t rank) {
  return {llvm::to_vector(llvm::seq<int64_t>(0, rank))};
}

inline Value reshape(OpBuilder &builder, Location loc, Value value,
                     RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getShape() == type.getShape())
    return value;
  Type element = from.getElementType();
  // Through a line of all elements. Where a side has no dimensions there is one
  // element, and no group: through a tensor without dimensions.
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

/// Moves the body of one block into an operation's new body: `mapping` has what
/// stands for its arguments. Returns what it yields.
inline SmallVector<Value> cloneBody(OpBuilder &builder, Region &body,
                                    IRMapping &mapping) {
  for (Operation &op : body.front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : body.front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

/// Where part `index` of two lies: along `dim`, of `size` elements.
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
