// SPDX-License-Identifier: Apache-2.0
//
// The configuration of the tiles of AMX: code that multiplies tiles runs
// between `ldtilecfg` and `tilerelease`.

#include "DotPacking.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// The configuration that `ldtilecfg` loads: palette 1, and in each of the
/// eight tiles 16 rows of 64 bytes.
static std::string configurationOfTiles() {
  constexpr int size = 64, bytesOfRow = 16, rows = 48, numTiles = 8;
  std::string bytes(size, '\0');
  bytes[0] = 1;
  for (int tile = 0; tile < numTiles; ++tile) {
    bytes[bytesOfRow + 2 * tile] = tileRowBytes;
    bytes[rows + tile] = tileRows;
  }
  return bytes;
}

bool DotLowering::beginTiles() {
  if (areTilesReady)
    return false;
  Value configuration =
      context.globalBytes("tiles", configurationOfTiles(), /*alignment=*/64);
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.ldtilecfg"),
                                configuration);
  return areTilesReady = true;
}

bool DotLowering::beginTilesFor(Operation *loop) {
  bool isWanted = false, mayLeave = false;
  loop->walk([&](Operation *op) {
    // The runtime may run Python code in these, or never return.
    mayLeave |=
        isa<triton::AtomicPollOp, triton::PrintOp, triton::AssertOp>(op);
    if (auto dot = dyn_cast<triton::DotOp>(op)) {
      std::optional<DotUnit> unit = chooseDotUnit(context.target, dot);
      isWanted |= unit && unit->isTiles();
    }
  });
  return isWanted && !mayLeave && beginTiles();
}

void DotLowering::endTiles() {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.tilerelease"),
                                ValueRange());
  areTilesReady = false;
}
