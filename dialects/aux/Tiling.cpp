// SPDX-License-Identifier: Apache-2.0
//
// Tiling of print and bitcast_ext. A tile of a print has offsets, so that it
// prints the indices in the whole array; the lines come tile by tile. A tile of
// a bitcast_ext consists of whole elements of the wider of the two types.

#include "Aux.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::triton_ext::aux;
using Numbers = SmallVector<OpFoldResult>;

static Numbers sizesOf(OpBuilder &builder, Location loc, Value array) {
  if (isa<MemRefType>(array.getType()))
    return memref::getMixedSizes(builder, loc, array);
  if (isa<RankedTensorType>(array.getType()))
    return tensor::getMixedSizes(builder, loc, array);
  return {};
}

/// Returns this part of the array, made by the last operation of `slices`.
static Value takeSlice(OpBuilder &builder, Location loc, Value array,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes,
                       SmallVector<Operation *> &slices) {
  Numbers ones(sizes.size(), builder.getIndexAttr(1));
  if (isa<MemRefType>(array.getType()))
    slices.push_back(
        memref::SubViewOp::create(builder, loc, array, offsets, sizes, ones));
  else
    slices.push_back(tensor::ExtractSliceOp::create(builder, loc, array,
                                                    offsets, sizes, ones));
  return slices.back()->getResult(0);
}

static SmallVector<Range> loopsOver(OpBuilder &builder, Numbers sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
    return Range{builder.getIndexAttr(0), size, builder.getIndexAttr(1)};
  });
}

static OpFoldResult apply(OpBuilder &builder, Location loc, AffineExpr expr,
                          ArrayRef<OpFoldResult> numbers) {
  auto map = AffineMap::get(numbers.size(), 0, expr);
  return affine::makeComposedFoldedAffineApply(builder, loc, map, numbers);
}

//===----------------------------------------------------------------------===//
// print
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> PrintOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(getWholeShape().size(),
                                          utils::IteratorType::parallel);
}

SmallVector<Range> PrintOp::getIterationDomain(OpBuilder &builder) {
  return loopsOver(builder, sizesOf(builder, getLoc(), getValue()));
}

FailureOr<TilingResult>
PrintOp::getTiledImplementation(OpBuilder &builder,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  SmallVector<Operation *> slices;
  Value slice = takeSlice(builder, loc, getValue(), offsets, sizes, slices);
  SmallVector<Value> places;
  AffineExpr d0, d1;
  bindDims(getContext(), d0, d1);
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    OpFoldResult place = offset;
    if (!getOffsets().empty())
      place = apply(builder, loc, d0 + d1, {offset, getOffsets()[dim]});
    places.push_back(getValueOrCreateConstantIndexOp(builder, loc, place));
  }
  auto tiled = PrintOp::create(
      builder, loc, getResult() ? slice.getType() : Type(), slice, places,
      getFormatAttr(), builder.getDenseI64ArrayAttr(getWholeShape()));
  tiled->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

FailureOr<TilingResult> PrintOp::getTiledImplementation(
    OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, ArrayRef<InnerTileAlignment>) {
  return getTiledImplementation(builder, offsets, sizes);
}

LogicalResult PrintOp::getResultTilePosition(OpBuilder &, unsigned,
                                             ArrayRef<OpFoldResult> offsets,
                                             ArrayRef<OpFoldResult> sizes,
                                             Numbers &resultOffsets,
                                             Numbers &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  return success();
}

LogicalResult PrintOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  if (getResult())
    shapes.push_back(sizesOf(builder, getLoc(), getValue()));
  return success();
}

//===----------------------------------------------------------------------===//
// bitcast_ext
//===----------------------------------------------------------------------===//

/// Returns how many elements of the narrower type a wider one has.
static int64_t getFactor(BitcastExtOp op) {
  auto [from, to] = op.getWidths();
  return std::max(from, to) / std::min(from, to);
}

static bool isToNarrow(BitcastExtOp op) {
  auto [from, to] = op.getWidths();
  return from > to;
}

/// Multiplies the innermost of these numbers.
static Numbers scale(OpBuilder &builder, Location loc,
                     ArrayRef<OpFoldResult> numbers, int64_t factor) {
  Numbers scaled(numbers);
  if (factor != 1)
    scaled.back() = apply(builder, loc, builder.getAffineDimExpr(0) * factor,
                          scaled.back());
  return scaled;
}

LogicalResult
BitcastExtOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  if (!isa<RankedTensorType>(getType()))
    return failure();
  Numbers sizes = sizesOf(builder, getLoc(), getValue());
  int64_t factor = getFactor(*this);
  AffineExpr size = builder.getAffineDimExpr(0);
  if (factor != 1)
    sizes.back() =
        apply(builder, getLoc(),
              isToNarrow(*this) ? size * factor : size.floorDiv(factor),
              sizes.back());
  // The interface asks for a value for a dynamic size, even if it is known.
  if (!sizes.empty() &&
      cast<ShapedType>(getType()).getShape().back() == ShapedType::kDynamic)
    sizes.back() =
        getValueOrCreateConstantIndexOp(builder, getLoc(), sizes.back());
  shapes.push_back(sizes);
  return success();
}

SmallVector<utils::IteratorType> BitcastExtOp::getLoopIteratorTypes() {
  auto type = dyn_cast<RankedTensorType>(getType());
  return SmallVector<utils::IteratorType>(type ? type.getRank() : 0,
                                          utils::IteratorType::parallel);
}

SmallVector<Range> BitcastExtOp::getIterationDomain(OpBuilder &builder) {
  if (isToNarrow(*this))
    return loopsOver(builder, sizesOf(builder, getLoc(), getValue()));
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(builder, shapes)))
    return {};
  return loopsOver(builder, shapes.front());
}

FailureOr<TilingResult>
BitcastExtOp::getTiledImplementation(OpBuilder &builder,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  SmallVector<Operation *> slices;
  int64_t factor = isToNarrow(*this) ? 1 : getFactor(*this);
  Value slice =
      takeSlice(builder, loc, getValue(), scale(builder, loc, offsets, factor),
                scale(builder, loc, sizes, factor), slices);
  Numbers unused, resultSizes;
  if (failed(getResultTilePosition(builder, 0, offsets, sizes, unused,
                                   resultSizes)))
    return failure();
  SmallVector<int64_t> shape;
  for (OpFoldResult size : resultSizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = cast<RankedTensorType>(getType()).clone(shape);
  auto tiled = BitcastExtOp::create(builder, loc, type, slice);
  tiled->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  return TilingResult{{tiled}, {tiled.getResult()}, slices};
}

FailureOr<TilingResult> BitcastExtOp::getTiledImplementation(
    OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, ArrayRef<InnerTileAlignment>) {
  return getTiledImplementation(builder, offsets, sizes);
}

LogicalResult BitcastExtOp::getResultTilePosition(
    OpBuilder &builder, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, Numbers &resultOffsets,
    Numbers &resultSizes) {
  int64_t factor = isToNarrow(*this) ? getFactor(*this) : 1;
  resultOffsets = scale(builder, getLoc(), offsets, factor);
  resultSizes = scale(builder, getLoc(), sizes, factor);
  return success();
}

LogicalResult BitcastExtOp::getIterationDomainTileFromResultTile(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVectorImpl<OpFoldResult> &domainOffsets,
    SmallVectorImpl<OpFoldResult> &domainSizes) {
  // A tile of narrow elements may begin or end inside a wide one.
  if (isToNarrow(*this))
    return failure();
  domainOffsets.assign(offsets.begin(), offsets.end());
  domainSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult>
BitcastExtOp::generateResultTileValue(OpBuilder &builder, unsigned result,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes) {
  Numbers domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromResultTile(
          builder, result, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  return getTiledImplementation(builder, domainOffsets, domainSizes);
}

FailureOr<TilingResult> BitcastExtOp::generateResultTileValue(
    OpBuilder &builder, unsigned result, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, ArrayRef<InnerTileAlignment>) {
  return generateResultTileValue(builder, result, offsets, sizes);
}
