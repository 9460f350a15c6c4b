// SPDX-License-Identifier: Apache-2.0
//
// Which accesses of a block share a look at their lanes, and where it is.

#include "Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;

/// Returns the access as a tile whose lanes can be looked at together with
/// those of others; nullopt if they cannot.
std::optional<Tile> BoundsChecker::tileOf(const MemoryAccess &access,
                                          const Extents &extents) {
  if (checker.action == Action::Trap || !extents.argument ||
      extents.arguments.size() > 1 || !extents.found.empty())
    return std::nullopt;
  ImplicitLocOpBuilder b = checker.before(access.op);
  LaneBuilder lanes(tracker, b, access.lanes);
  if (!lanes.canBuild(access.pointer) ||
      (access.mask && !lanes.canBuild(access.mask)))
    return std::nullopt;
  bool isScalar = !isa<RankedTensorType>(access.type);
  SmallVector<int64_t> shape;
  if (auto tensor = dyn_cast<RankedTensorType>(access.type))
    shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  Value pointer = access.pointer, mask = access.mask;
  auto build = [=](LaneBuilder &builder, ImplicitLocOpBuilder &b,
                   Value places) {
    SmallVector<Value> coordinates;
    if (!isScalar)
      coordinates = builder.coordinatesOf(places, shape);
    Value address = addressOf(builder.build(pointer, coordinates), b);
    Value isOn = mask ? builder.build(mask, coordinates) : Value();
    return std::pair(address, isOn);
  };
  return Tile{access.op,
              /*isOut=*/{}, *extents.argument, access.laneBytes,
              access.lanes, isScalar,          build};
}

/// Inserts one look for tiles of a block. If it is moved behind a loop, it
/// looks at all of them: the corners would have to be computed again for it.
void BoundsChecker::lookAt(ArrayRef<Tile> tiles, bool isDeferred) {
  ImplicitLocOpBuilder b = checker.before(tiles.front().op);
  b.setInsertionPoint(tiles.front().op->getBlock()->getTerminator());
  Value isOut = tiles.front().isOut;
  for (const Tile &tile : tiles.drop_front())
    isOut = arith::OrIOp::create(b, isOut, tile.isOut);
  auto look = scf::IfOp::create(b, isOut, /*withElseRegion=*/false);
  b.setInsertionPointToStart(look.thenBlock());
  lookAtTiles(checker, tracker, tiles, isDeferred, b);
  mark(look,
       llvm::map_to_vector(tiles, [](const Tile &tile) { return tile.op; }));
  looks.push_back({tiles.back().op, look});
}

/// Inserts the looks at tiles. Those that can leave different loops stay apart:
/// one that needs values from memory would keep the others in the loop.
void BoundsChecker::lookAtAll() {
  for (auto &[block, all] : tiles) {
    llvm::MapVector<Operation *, SmallVector<Tile>> groups;
    for (Tile &tile : all) {
      Operation *loop = nullptr;
      if (isa<LoopLikeOpInterface>(block->getParentOp()) ||
          block->getParentOp()->getParentOfType<LoopLikeOpInterface>()) {
        lookAt(tile, /*isDeferred=*/true); // for a trial
        loop = loopFor(looks.back());
        looks.pop_back_val().branch.erase();
      }
      groups[loop].push_back(tile);
    }
    for (auto &[loop, group] : groups)
      lookAt(group, /*isDeferred=*/loop != nullptr);
  }
  // In program order, but for groups: by their last access.
  llvm::sort(looks, [&](const Look &one, const Look &other) {
    return checker.placeOf(one.access) < checker.placeOf(other.access);
  });
}
