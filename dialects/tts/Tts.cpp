// SPDX-License-Identifier: Apache-2.0
//
// Builders, accessors and verifiers of the dialect `tts`.

#include "Checks.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include "Tts.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext::tts;
namespace tt = mlir::triton;

/// Checks the sizes and the type of a tensor of pointers to the elements of
/// `base`.
static LogicalResult checkPointers(Operation *op, Type base,
                                   ArrayRef<int64_t> sizes, Type result) {
  if (getElementTypeOrSelf(result) != base)
    return op->emitOpError()
           << "expected pointers of type " << base << " as the base, got "
           << getElementTypeOrSelf(result);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result).getShape();
  if (shape != sizes)
    return op->emitOpError()
           << "expected sizes [" << shape << "] as in the result type, got ["
           << sizes << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// make_tptr, make_gather_scatter_tptr
//===----------------------------------------------------------------------===//

void MakeTptrOp::build(OpBuilder &builder, OperationState &state, Value base,
                       ArrayRef<int64_t> sizes, ArrayRef<OpFoldResult> strides,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> shape, ArrayRef<int32_t> order) {
  SmallVector<int64_t> staticStrides, staticOffsets, staticShape;
  SmallVector<Value> strideValues, offsetValues, shapeValues;
  dispatchIndexOpFoldResults(strides, strideValues, staticStrides);
  dispatchIndexOpFoldResults(offsets, offsetValues, staticOffsets);
  dispatchIndexOpFoldResults(shape, shapeValues, staticShape);
  build(builder, state, RankedTensorType::get(sizes, base.getType()), base,
        sizes, strideValues, offsetValues, shapeValues, staticStrides,
        staticOffsets, staticShape, order);
}

SmallVector<OpFoldResult> MakeTptrOp::getMixedStrides() {
  return getMixedValues(getStaticStrides(), getStrides(), getContext());
}
SmallVector<OpFoldResult> MakeTptrOp::getMixedOffsets() {
  return getMixedValues(getStaticOffsets(), getOffsets(), getContext());
}
SmallVector<OpFoldResult> MakeTptrOp::getMixedShape() {
  return getMixedValues(getStaticShape(), getShape(), getContext());
}

LogicalResult MakeTptrOp::verify() {
  size_t rank = getSizes().size();
  if (failed(
          checkPointers(*this, getBase().getType(), getSizes(), getType())) ||
      failed(checkList(*this, "strides", getStaticStrides(), getStrides(),
                       rank)) ||
      failed(checkList(*this, "offsets", getStaticOffsets(), getOffsets(),
                       rank)) ||
      failed(checkList(*this, "numbers in shape", getStaticShape(), getShape(),
                       rank)))
    return failure();
  for (int64_t size : getStaticShape())
    if (!ShapedType::isDynamic(size) && size < 0)
      return emitOpError() << "expected a shape of at least 0, got " << size;
  SmallVector<int32_t> order(getOrder());
  llvm::sort(order);
  if (!order.empty() && !llvm::equal(order, llvm::seq<int32_t>(0, rank)))
    return emitOpError() << "expected the order to be empty or to have each "
                            "dimension once, got ["
                         << getOrder() << "]";
  return success();
}

void MakeGatherScatterTptrOp::build(OpBuilder &builder, OperationState &state,
                                    Value base, Value gatherOffset,
                                    Value gatherMask, unsigned gatherDim,
                                    ArrayRef<int64_t> sizes,
                                    ArrayRef<OpFoldResult> strides,
                                    ArrayRef<OpFoldResult> offsets) {
  SmallVector<int64_t> staticStrides, staticOffsets;
  SmallVector<Value> strideValues, offsetValues;
  dispatchIndexOpFoldResults(strides, strideValues, staticStrides);
  dispatchIndexOpFoldResults(offsets, offsetValues, staticOffsets);
  build(builder, state, RankedTensorType::get(sizes, base.getType()), base,
        gatherOffset, gatherDim, sizes, strideValues, offsetValues,
        staticStrides, staticOffsets, gatherMask);
}

SmallVector<OpFoldResult> MakeGatherScatterTptrOp::getMixedStrides() {
  return getMixedValues(getStaticStrides(), getStrides(), getContext());
}
SmallVector<OpFoldResult> MakeGatherScatterTptrOp::getMixedOffsets() {
  return getMixedValues(getStaticOffsets(), getOffsets(), getContext());
}

LogicalResult MakeGatherScatterTptrOp::verify() {
  size_t rank = getSizes().size();
  if (failed(
          checkPointers(*this, getBase().getType(), getSizes(), getType())) ||
      failed(checkList(*this, "strides", getStaticStrides(), getStrides(),
                       rank)) ||
      failed(
          checkList(*this, "offsets", getStaticOffsets(), getOffsets(), rank)))
    return failure();
  uint32_t dim = getGatherScatterDim();
  if (dim >= rank)
    return emitOpError() << "expected gather_scatter_dim to be less than "
                         << rank << ", got " << dim;
  if (getStaticOffsets()[dim] != 0)
    return emitOpError() << "expected the offset of dimension " << dim
                         << ", which gathers, to be 0";
  auto type = cast<RankedTensorType>(getGatherScatterOffset().getType());
  if (type.getShape() != getSizes().slice(dim, 1))
    return emitOpError() << "expected a gather_scatter_offset of shape ["
                         << getSizes()[dim] << "], got " << type;
  if (Value mask = getGatherScatterMask())
    return checkType(*this, "a gather_scatter_mask", mask.getType(),
                     tt::getI1SameShape(type));
  return success();
}

//===----------------------------------------------------------------------===//
// get_structured_state
//===----------------------------------------------------------------------===//

void GetStructuredStateOp::build(OpBuilder &builder, OperationState &state,
                                 Value input, bool withBase) {
  auto tensor = dyn_cast<RankedTensorType>(input.getType());
  int32_t offsets = tensor ? tensor.getRank() : 1;
  int32_t strides = tensor ? tensor.getRank() : 0;
  SmallVector<int32_t> segments{1, offsets, strides};
  SmallVector<Type> types{input.getType()};
  types.append(offsets + strides, builder.getIndexType());
  if (withBase) {
    segments.push_back(1);
    types.push_back(getElementTypeOrSelf(input.getType()));
  }
  build(builder, state, types, input, segments);
}

LogicalResult GetStructuredStateOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getInput().getType());
  SmallVector<int32_t, 4> expected{1, 1, 0};
  if (tensor)
    expected = {1, int32_t(tensor.getRank()), int32_t(tensor.getRank())};
  ArrayRef<int32_t> segments = getResultSegmentSizes();
  bool hasBase = segments.size() == 4 && segments[3] == 1;
  if (segments.size() == 4)
    expected.push_back(hasBase);
  if (segments != ArrayRef(expected))
    return emitOpError() << "expected resultSegmentSizes [" << expected
                         << "] for " << getInput().getType() << ", got ["
                         << segments << "]";
  size_t count = size_t(1) + expected[1] + expected[2] + hasBase;
  if (getStates().size() != count)
    return emitOpError() << "expected " << count << " results, got "
                         << getStates().size();
  if (failed(checkType(*this, "a first result", getStates()[0].getType(),
                       getInput().getType())))
    return failure();
  for (Value state : getStates().slice(1, expected[1] + expected[2]))
    if (failed(checkType(*this, "offsets and strides", state.getType(),
                         IndexType::get(getContext()))))
      return failure();
  if (!hasBase)
    return success();
  Type pointer = getElementTypeOrSelf(getInput().getType());
  if (!isa<tt::PointerType>(pointer))
    return emitOpError() << "expected no base for " << getInput().getType();
  return checkType(*this, "a base", getStates().back().getType(), pointer);
}

//===----------------------------------------------------------------------===//
// load, store, gather, scatter
//===----------------------------------------------------------------------===//

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                   ArrayRef<OpFoldResult> maskDims, Value other,
                   Attribute cachePolicy) {
  SmallVector<int64_t> numbers;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(maskDims, values, numbers);
  build(builder, state, tt::getPointeeType(ptr.getType()), ptr, values, numbers,
        other, cachePolicy);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                    Value value, ArrayRef<OpFoldResult> maskDims,
                    Attribute cachePolicy) {
  SmallVector<int64_t> numbers;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(maskDims, values, numbers);
  build(builder, state, ptr, value, values, numbers, cachePolicy);
}

SmallVector<OpFoldResult> LoadOp::getMixedMaskDims() {
  return getMixedValues(getStaticMaskDims(), getMaskDims(), getContext());
}
SmallVector<OpFoldResult> StoreOp::getMixedMaskDims() {
  return getMixedValues(getStaticMaskDims(), getMaskDims(), getContext());
}
SmallVector<OpFoldResult> AtomicRMWOp::getMixedMaskDims() {
  return getMixedValues(getStaticMaskDims(), getMaskDims(), getContext());
}

LogicalResult LoadOp::verify() {
  Type type = tt::getPointeeType(getPtr().getType());
  if (failed(checkType(*this, "a result", getType(), type)) ||
      failed(
          checkMaskDims(*this, getPtr(), getStaticMaskDims(), getMaskDims())))
    return failure();
  if (Value other = getOther())
    return checkType(*this, "an other", other.getType(),
                     getElementTypeOrSelf(type));
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(checkType(*this, "a value", getValue().getType(),
                       tt::getPointeeType(getPtr().getType()))))
    return failure();
  return checkMaskDims(*this, getPtr(), getStaticMaskDims(), getMaskDims());
}

LogicalResult GatherOp::verify() {
  return checkType(*this, "a result", getType(),
                   valueTypeAt(getPtr(), getOffset()));
}

LogicalResult ScatterOp::verify() {
  return checkType(*this, "a value", getValue().getType(),
                   valueTypeAt(getPtr(), getOffset()));
}
