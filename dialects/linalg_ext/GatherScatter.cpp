// SPDX-License-Identifier: Apache-2.0
//
// The operations `gather` and `scatter`: builders and verifiers.

#include "Builders.h"
#include "Checks.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

void GatherOp::build(OpBuilder &builder, OperationState &state, Value input,
                     Value indices, Value mask, Value init,
                     ArrayRef<int64_t> dimensionMap, bool rangedData,
                     bool signedIndice) {
  Type element = shaped(input).getElementType(), storage;
  build(builder, state, resultOf(init, storage), input, indices, mask, init,
        dimensionMap, rangedData, signedIndice);
  state.regions.clear();
  addBody(builder, state, {element, shaped(init).getElementType()});
}

void ScatterOp::build(OpBuilder &builder, OperationState &state, Value update,
                      Value indices, Value mask, Value init,
                      ArrayRef<int64_t> dimensionMap, bool rangedData,
                      bool overlapWindow, bool signedIndice) {
  Type element = shaped(update).getElementType(), storage;
  build(builder, state, resultOf(init, storage), update, indices, mask, init,
        dimensionMap, rangedData, overlapWindow, signedIndice);
  state.regions.clear();
  addBody(builder, state, {element, shaped(init).getElementType()});
}

/// Checks the operands of a gather or scatter. `whole` is the array that the
/// indices point into; `windows` has the dimensions of the batch, then those of
/// a window.
static LogicalResult checkIndexed(Operation *op, Value whole, Value windows,
                                  Value indices, Value mask,
                                  ArrayRef<int64_t> dimensionMap) {
  ShapedType wholeType = shaped(whole), windowsType = shaped(windows);
  ShapedType indicesType = shaped(indices);
  if (!indicesType.getElementType().isSignlessInteger())
    return op->emitOpError()
           << "expected indices that are signless integers, got "
           << indicesType;
  if (indicesType.getRank() < 1)
    return op->emitOpError() << "expected indices of one dimension at least";
  ArrayRef<int64_t> batch = indicesType.getShape().drop_back();
  int64_t numIndices = indicesType.getShape().back();
  if (numIndices != int64_t(dimensionMap.size()))
    return op->emitOpError()
           << "expected a dimension_map of as many dimensions as the last "
              "dimension of the indices has elements, got "
           << dimensionMap.size() << " and " << indicesType;
  SmallVector<bool> seen(wholeType.getRank());
  for (int64_t dim : dimensionMap) {
    if (dim < 0 || dim >= wholeType.getRank() || seen[dim])
      return op->emitOpError()
             << "expected a dimension_map of different dimensions of "
             << wholeType << ", got " << dim;
    seen[dim] = true;
  }
  SmallVector<int64_t> shape(batch);
  shape.append(wholeType.getRank(), ShapedType::kDynamic);
  if (failed(checkSameShape(op, "windows", windows, shape)))
    return failure();
  ArrayRef<int64_t> window = windowsType.getShape().drop_front(batch.size());
  for (auto [dim, size] : llvm::enumerate(window))
    if (!ShapedType::isDynamic(size) && !wholeType.isDynamicDim(dim) &&
        size > wholeType.getDimSize(dim))
      return op->emitOpError() << "expected windows that fit into " << wholeType
                               << ", got " << windowsType;
  Type element = wholeType.getElementType();
  if (windowsType.getElementType() != element)
    return op->emitOpError()
           << "expected windows of " << element << ", got " << windowsType;
  if (failed(checkBody(op, op->getRegion(0), {element, element}, element)))
    return failure();
  return checkMask(op, mask, ArrayRef(shape).take_front(batch.size()));
}

LogicalResult GatherOp::verify() {
  return checkIndexed(*this, getInput(), getInit(), getIndices(), getMask(),
                      getDimensionMap());
}

LogicalResult ScatterOp::verify() {
  return checkIndexed(*this, getInit(), getUpdate(), getIndices(), getMask(),
                      getDimensionMap());
}
