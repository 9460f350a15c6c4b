// SPDX-License-Identifier: Apache-2.0
//
// Computes and takes the part of an array that a tile needs.

#include "TilingSlices.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

OpFoldResult mlir::triton_ext::linalg_ext::sizeOf(OpBuilder &builder,
                                                  Location loc, Value array,
                                                  int64_t dim) {
  if (isa<MemRefType>(array.getType()))
    return memref::getMixedSize(builder, loc, array, dim);
  return tensor::getMixedSize(builder, loc, array, dim);
}

/// Returns whether the tile covers the whole loop: its size is the dynamic size
/// of an operand, which may be 0. A tile of a split loop is never empty.
static bool isUntiled(Tile tile, unsigned loop) {
  auto size = dyn_cast<Value>(tile.sizes[loop]);
  return size &&
         isa_and_nonnull<tensor::DimOp, memref::DimOp>(size.getDefiningOp());
}

Slice mlir::triton_ext::linalg_ext::getSlice(OpBuilder &builder, Location loc,
                                             Value array,
                                             ArrayRef<TiledDim> dims,
                                             Tile tile) {
  Arithmetic math{builder, loc};
  AffineExpr d0 = math.d(0), d1 = math.d(1), d2 = math.d(2);
  Slice slice;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    OpFoldResult offset = builder.getIndexAttr(0), size;
    switch (dim.kind) {
    case TiledDim::Whole:
      size = sizeOf(builder, loc, array, number);
      break;
    case TiledDim::Loop:
    case TiledDim::Part:
      offset = tile.offsets[dim.loop];
      size = tile.sizes[dim.loop];
      break;
    case TiledDim::Mirrored:
      size = tile.sizes[dim.loop];
      offset = math.apply(d0 - d1 - d2, {sizeOf(builder, loc, array, number),
                                         tile.offsets[dim.loop], size});
      break;
    case TiledDim::Window:
      // With 0 windows, or windows of 0 elements, the formula below would give
      // a negative size. So an untiled loop takes the whole dimension.
      if (isConstantIntValue(tile.offsets[dim.loop], 0) &&
          isConstantIntValue(tile.offsets[dim.inner], 0) &&
          (isUntiled(tile, dim.loop) || isUntiled(tile, dim.inner))) {
        size = sizeOf(builder, loc, array, number);
        break;
      }
      offset = math.apply(d0 * dim.stride + d1 * dim.dilation,
                          {tile.offsets[dim.loop], tile.offsets[dim.inner]});
      size = math.apply((d0 - 1) * dim.stride + (d1 - 1) * dim.dilation + 1,
                        {tile.sizes[dim.loop], tile.sizes[dim.inner]});
      if (std::optional<int64_t> known = getConstantIntValue(size);
          known && *known < 0)
        size = builder.getIndexAttr(0);
      break;
    }
    slice.offsets.push_back(offset);
    slice.sizes.push_back(size);
  }
  return slice;
}

static bool isAllOf(const Slice &slice, Value array) {
  ArrayRef<int64_t> shape = cast<ShapedType>(array.getType()).getShape();
  return llvm::all_of(
      llvm::zip(slice.offsets, slice.sizes, shape), [](auto entry) {
        auto [offset, size, whole] = entry;
        return isConstantIntValue(offset, 0) && isConstantIntValue(size, whole);
      });
}

Value mlir::triton_ext::linalg_ext::takeSlice(OpBuilder &builder, Location loc,
                                              Value array, const Slice &slice,
                                              SmallVector<Operation *> &made) {
  if (isAllOf(slice, array))
    return array;
  Numbers strides(slice.sizes.size(), builder.getIndexAttr(1));
  if (isa<MemRefType>(array.getType()))
    made.push_back(memref::SubViewOp::create(builder, loc, array, slice.offsets,
                                             slice.sizes, strides));
  else
    made.push_back(tensor::ExtractSliceOp::create(
        builder, loc, array, slice.offsets, slice.sizes, strides));
  return made.back()->getResult(0);
}
