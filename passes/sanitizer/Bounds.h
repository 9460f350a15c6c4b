// SPDX-License-Identifier: Apache-2.0
//
// The check of bounds for one kernel.

#ifndef TRITON_EXT_SANITIZER_BOUNDS_H
#define TRITON_EXT_SANITIZER_BOUNDS_H

#include "Checks.h"
#include "DeferLooks.h"
#include "Extents.h"
#include "LaneBuilder.h"
#include "MaskBox.h"
#include "Strided.h"
#include "Tiles.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <tuple>

namespace mlir::triton_ext::sanitizer {

class BoundsChecker {
public:
  explicit BoundsChecker(Checker &checker)
      : checker(checker), tracker(checker.kernel), extents_(checker, tracker) {}

  void run();

  /// Returns where `run`, in a trial, has left the looks.
  CheckPlaces placesOfChecks();
  llvm::json::Array takeHostAccesses() { return std::move(ofHost); }

private:
  /// Some lanes of an access.
  struct Lanes {
    Value address; ///< i64
    Value mask;    ///< null if all are on
    Value number;  ///< of each lane; null if they are all lanes
  };

  bool leaveToHost(const MemoryAccess &access,
                   std::optional<unsigned> argument);
  bool keepFirst(const MemoryAccess &access, const Extents &extents);
  bool isOfOneArgument(const MemoryAccess &access, const Extents &extents);
  bool callLook(const MemoryAccess &access, const Extents &extents);
  void mark(scf::IfOp look, ArrayRef<Operation *> accesses);
  void sayChecked(Operation *op, const Extents &extents, StringRef how);
  void noteUnknownPointers(const MemoryAccess &access, const Extents &extents);
  void checkTile(const MemoryAccess &access);
  void checkBox(const MemoryAccess &access);
  bool isRepeated(const MemoryAccess &access);
  Value isSuspicious(const Strided &strided, const MaskBox &mask,
                     ArrayRef<int64_t> shape, int64_t bytes,
                     const Extents &extents, ImplicitLocOpBuilder &b);
  void lookAtLanes(const MemoryAccess &access, const Extents &extents,
                   ImplicitLocOpBuilder &b);
  void reportLanes(const Lanes &lanes, const MemoryAccess &access,
                   const Extents &extents, ImplicitLocOpBuilder &b);
  void suppress(const MemoryAccess &access, const Extents &extents);
  /// Emits code that ends the kernel if the i1 is true.
  void trap(Value isWrong, ImplicitLocOpBuilder &b);
  std::optional<Tile> tileOf(const MemoryAccess &access,
                             const Extents &extents);
  void lookAt(ArrayRef<Tile> tiles, bool isDeferred);
  void lookAtAll();

  Checker &checker;
  StridedTracker tracker;
  ExtentFinder extents_;
  /// The number of lanes that are checked together. It is small, so that the
  /// rare path needs few registers.
  static constexpr int64_t lanesAtOnce = 128;
  std::map<std::tuple<Block *, void *, void *, int64_t>, Operation *> seen;
  SmallVector<Look> looks;
  llvm::json::Array ofHost; ///< accesses that are left to the host
  /// The numbers of accesses in the order of the program.
  DenseMap<Operation *, int64_t> numbers;
  /// The accesses that have a look, and whether they have corners.
  std::map<int64_t, bool> looked;
  /// For each block, the tiles that are checked at its end.
  llvm::MapVector<Block *, SmallVector<Tile>> tiles;
};

/// Returns the addresses of pointers, as i64 in the same shape.
Value addressOf(Value pointer, ImplicitLocOpBuilder &b);

/// Returns whether the pointers of an access are a tensor of rank 0, which
/// kernels written in Python do not have.
inline bool hasNoDimension(const MemoryAccess &access) {
  auto tensor = dyn_cast<RankedTensorType>(access.type);
  return tensor && tensor.getRank() == 0;
}

/// Returns whether the mask of an access can be narrowed.
bool canSuppress(Operation *op);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_BOUNDS_H
