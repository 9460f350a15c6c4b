// SPDX-License-Identifier: Apache-2.0
//
// Computes the layouts of `layout_ext` with Triton's algebra of linear layouts,
// whose functions assert what is checked here first. The verifiers of types
// check the numbers of lanes and warps, which this file does not know.

#include "Algebra.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::layout_ext;
namespace ttg = mlir::triton::gpu;

/// The largest number of elements of a tensor in Triton.
static constexpr int64_t kMostElements = 1 << 20;

static LogicalResult checkShape(ErrorEmitter emitError,
                                ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size <= 0 || size > kMostElements || !llvm::isPowerOf2_64(size))
      return emitError() << "expected sizes that are powers of two, up to "
                         << kMostElements << ", got " << size;
    elements *= size;
    if (elements > kMostElements)
      return emitError() << "expected a shape of up to " << kMostElements
                         << " elements, got [" << shape << "]";
  }
  return success();
}

FailureOr<LinearLayout>
mlir::triton_ext::layout_ext::evaluate(ErrorEmitter emitError, Attribute layout,
                                       ArrayRef<int64_t> shape) {
  if (failed(checkShape(emitError, shape)))
    return failure();
  // Other layouts, such as those of operands of a matrix product, are defined
  // for some shapes only, and for other shapes Triton ends the process.
  if (!isa<ttg::BlockedEncodingAttr, ttg::LinearEncodingAttr, ProductAttr,
           QuotientAttr, ComposedAttr, WarpTileAttr>(layout))
    return emitError() << "expected #ttg.blocked, #ttg.linear or a layout of "
                          "layout_ext, got "
                       << layout;
  unsigned rank = cast<LayoutEncodingTrait>(layout).getRank();
  if (rank != shape.size())
    return emitError() << "expected a shape of rank " << rank << " for "
                       << layout << ", got [" << shape << "]";
  return cast<DistributedEncodingTrait>(layout).toLinearLayout(shape);
}

/// Returns two layouts, which must have the same rank.
static FailureOr<std::pair<LinearLayout, LinearLayout>>
evaluateBoth(ErrorEmitter emitError, Attribute first,
             ArrayRef<int64_t> firstShape, Attribute second,
             ArrayRef<int64_t> secondShape) {
  FailureOr<LinearLayout> one = evaluate(emitError, first, firstShape);
  if (failed(one))
    return failure();
  FailureOr<LinearLayout> other = evaluate(emitError, second, secondShape);
  if (failed(other))
    return failure();
  if (firstShape.size() != secondShape.size())
    return emitError() << "expected layouts of the same rank, got ["
                       << firstShape << "] and [" << secondShape << "]";
  return std::pair(std::move(*one), std::move(*other));
}

FailureOr<LinearLayout> mlir::triton_ext::layout_ext::product(
    ErrorEmitter emitError, Attribute first, ArrayRef<int64_t> firstShape,
    Attribute second, ArrayRef<int64_t> secondShape) {
  auto both = evaluateBoth(emitError, first, firstShape, second, secondShape);
  if (failed(both))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [tile, tiles] : llvm::zip_equal(firstShape, secondShape))
    shape.push_back(tile * tiles);
  if (failed(checkShape(emitError, shape)))
    return failure();
  return both->first * both->second;
}

FailureOr<LinearLayout> mlir::triton_ext::layout_ext::quotient(
    ErrorEmitter emitError, Attribute first, ArrayRef<int64_t> firstShape,
    Attribute second, ArrayRef<int64_t> secondShape) {
  auto both = evaluateBoth(emitError, first, firstShape, second, secondShape);
  if (failed(both))
    return failure();
  if (std::optional<LinearLayout> result =
          divideLeft(both->first, both->second))
    return *result;
  return emitError() << "expected a layout that is a product with the second "
                        "one as its tile, got "
                     << first << " over [" << firstShape << "] and " << second
                     << " over [" << secondShape << "]";
}

FailureOr<LinearLayout>
mlir::triton_ext::layout_ext::composed(ErrorEmitter emitError, Attribute first,
                                       ArrayRef<int64_t> firstShape,
                                       MapAttr map) {
  FailureOr<LinearLayout> layout = evaluate(emitError, first, firstShape);
  if (failed(layout))
    return failure();
  LinearLayout indices = map.getLinearLayout();
  SmallVector<int64_t> sizes;
  for (StringAttr dim : indices.getInDimNames())
    sizes.push_back(indices.getInDimSize(dim));
  if (ArrayRef(sizes) != firstShape)
    return emitError() << "expected a map of the shape [" << firstShape
                       << "], got one of [" << sizes << "]";
  return layout->compose(indices);
}

LogicalResult mlir::triton_ext::layout_ext::checkWarpTile(
    ErrorEmitter emitError, ArrayRef<int64_t> tile, unsigned vec,
    ArrayRef<unsigned> order, ArrayRef<unsigned> warps, unsigned lanes) {
  size_t rank = tile.size();
  SmallVector<bool> seen(rank);
  for (unsigned dim : order)
    if (dim < rank)
      seen[dim] = true;
  if (rank == 0 || order.size() != rank ||
      !llvm::all_of(seen, [](bool b) { return b; }))
    return emitError() << "expected an order of the " << rank
                       << " dimensions of the tile, got [" << order << "]";
  if (warps.size() != rank)
    return emitError() << "expected warps along the " << rank
                       << " dimensions of the tile, got [" << warps << "]";
  if (lanes == 0 || lanes > 64 || !llvm::isPowerOf2_32(lanes))
    return emitError() << "expected a power of two of lanes, up to 64, got "
                       << lanes;
  SmallVector<int64_t> shape;
  for (auto [size, count] : llvm::zip_equal(tile, warps))
    shape.push_back(count > kMostElements ? 0 : size * count);
  SmallVector<int64_t> sizes(warps.begin(), warps.end());
  if (failed(checkShape(emitError, tile)) ||
      failed(checkShape(emitError, sizes)) ||
      failed(checkShape(emitError, shape)))
    return failure();
  if (!llvm::isPowerOf2_32(vec) || vec > tile[order[0]])
    return emitError() << "expected vec to be a power of two, up to the "
                       << tile[order[0]] << " elements of the tile along "
                       << "dimension " << order[0] << ", got " << vec;
  int64_t elements = 1;
  for (int64_t size : tile)
    elements *= size;
  if (elements < int64_t(vec) * lanes)
    return emitError() << "expected a tile of at least vec * lanes = "
                       << int64_t(vec) * lanes << " elements, got [" << tile
                       << "]";
  return success();
}

namespace {
using Bases = std::vector<std::vector<int32_t>>;

/// Hands out the bits of the index of each dimension, the lowest first.
struct Bits {
  SmallVector<int64_t> next, end;

  /// Returns the vector of the next bit of dimension `dim`.
  std::vector<int32_t> take(unsigned dim) {
    std::vector<int32_t> basis(next.size());
    basis[dim] = next[dim];
    next[dim] *= 2;
    return basis;
  }
  bool isLeft(unsigned dim) const { return next[dim] < end[dim]; }
};
} // namespace

LinearLayout mlir::triton_ext::layout_ext::warpTile(
    MLIRContext *context, ArrayRef<int64_t> tile, unsigned vec,
    ArrayRef<unsigned> order, ArrayRef<unsigned> warps, unsigned lanes) {
  Bits bits{SmallVector<int64_t>(tile.size(), 1), SmallVector<int64_t>(tile)};
  Bases inRegisters, inLanes, inWarps;
  while (bits.next[order[0]] < vec)
    inRegisters.push_back(bits.take(order[0]));
  for (unsigned dim : order)
    while (bits.isLeft(dim))
      (1u << inLanes.size() < lanes ? inLanes : inRegisters)
          .push_back(bits.take(dim));
  for (auto [end, count] : llvm::zip_equal(bits.end, warps))
    end *= count;
  // The warps are numbered along the last dimension first, whatever the order
  // of the elements: so a transposition keeps each tile in its warp.
  for (unsigned dim = tile.size(); dim-- > 0;)
    while (bits.isLeft(dim))
      inWarps.push_back(bits.take(dim));

  auto name = [&](const Twine &text) { return StringAttr::get(context, text); };
  LinearLayout::BasesT bases;
  bases[name("register")] = std::move(inRegisters);
  bases[name("lane")] = std::move(inLanes);
  bases[name("warp")] = std::move(inWarps);
  bases[name("block")] = {};
  SmallVector<std::pair<StringAttr, int32_t>> sizes;
  for (auto [dim, size] : llvm::enumerate(bits.end))
    sizes.emplace_back(name("dim" + Twine(dim)), size);
  return LinearLayout(std::move(bases), sizes, /*requireSurjective=*/true);
}
