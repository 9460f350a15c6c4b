// SPDX-License-Identifier: Apache-2.0
//
// The layouts of shared memory of `layout_ext`: verifiers, and the methods of
// Triton's interfaces.

#include "LayoutExt.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::layout_ext;

/// The largest size of a tile along a dimension, and the most phases.
static constexpr int64_t kMost = 1024;

LogicalResult
SwizzledTilesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          ArrayRef<int64_t> tile, unsigned phases) {
  if (tile.size() != 2)
    return emitError() << "expected a tile of two dimensions, got [" << tile
                       << "]";
  for (int64_t size : tile)
    if (size <= 0 || size > kMost || !llvm::isPowerOf2_64(size))
      return emitError() << "expected a tile of sizes that are powers of two, "
                            "up to "
                         << kMost << ", got [" << tile << "]";
  if (phases > kMost || !llvm::isPowerOf2_32(phases))
    return emitError() << "expected phases to be a power of two, up to "
                       << kMost << ", got " << phases;
  return success();
}

CGAEncodingAttr SwizzledTilesAttr::getCGALayout() const {
  return CGAEncodingAttr::get1CTALayout(getContext(), getRank());
}

unsigned SwizzledTilesAttr::getRank() const { return 2; }

int32_t SwizzledTilesAttr::getAlignment() const { return 128; }

LinearLayout SwizzledTilesAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  int32_t rows = shape[0], columns = shape[1];
  int32_t height = std::min<int64_t>(getTile()[0], rows);
  int32_t width = std::min<int64_t>(getTile()[1], columns);
  // The bits of the offset, the lowest first: column and row in the tile, then
  // column and row of the tile.
  std::vector<std::vector<int32_t>> offsets;
  for (int32_t column = 1; column < width; column *= 2)
    offsets.push_back({0, column});
  for (int32_t row = 1; row < height; row *= 2)
    offsets.push_back({row, 0});
  for (int32_t column = width; column < columns; column *= 2)
    offsets.push_back({0, column});
  for (int32_t row = 1; row < rows / height; row *= 2) {
    int32_t moved = row < int32_t(getPhases()) ? row * width : 0;
    offsets.push_back({row * height, moved < columns ? moved : 0});
  }
  auto name = [&](StringRef text) {
    return StringAttr::get(getContext(), text);
  };
  LinearLayout::BasesT bases;
  bases[name("offset")] = std::move(offsets);
  bases[name("block")] = {};
  return LinearLayout(std::move(bases),
                      {{name("dim0"), rows}, {name("dim1"), columns}},
                      /*requireSurjective=*/true);
}
