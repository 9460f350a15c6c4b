// SPDX-License-Identifier: Apache-2.0
//
// Finds the loops whose number of records is known before they run.

#include "RegionLoops.h"
#include "Clock.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;

std::optional<int64_t> RegionLoop::offsetOf(RegionEndOp end) const {
  auto found = llvm::find(ends, end);
  if (found == ends.end())
    return std::nullopt;
  return offsets[found - ends.begin()];
}

int64_t mlir::triton_ext::lower_probe::recordsOf(RegionBeginOp begin,
                                                 const Clock &clock) {
  return begin.getPerWarp() ? clock.warps() : 1;
}

/// Returns whether `loop` runs once in a program at most.
static bool runsOnce(scf::ForOp loop) {
  auto kernel = loop->getParentOfType<triton::FuncOp>();
  return !loop->getParentOfType<LoopLikeOpInterface>() &&
         kernel.getBody().hasOneBlock();
}

SmallVector<RegionLoop, 0>
mlir::triton_ext::lower_probe::regionLoopsOf(ArrayRef<RegionBeginOp> regions,
                                             const Clock &clock) {
  SmallVector<RegionLoop, 0> loops;
  for (RegionBeginOp begin : regions) {
    auto loop = dyn_cast<scf::ForOp>(begin->getParentOp());
    if (!loop || !begin.getHandle().hasOneUse() || !runsOnce(loop))
      continue;
    Operation *user = *begin.getHandle().user_begin();
    if (user->getBlock() != begin->getBlock())
      continue;
    auto found = llvm::find_if(
        loops, [&](const RegionLoop &one) { return one.loop == loop; });
    if (found == loops.end())
      found = &loops.emplace_back(RegionLoop{loop, {}, {}, 0});
    found->ends.push_back(cast<RegionEndOp>(user));
  }
  for (RegionLoop &one : loops) {
    llvm::sort(one.ends, [](RegionEndOp left, RegionEndOp right) {
      return left->isBeforeInBlock(right);
    });
    for (RegionEndOp end : one.ends) {
      one.offsets.push_back(one.recordsOfTurn);
      one.recordsOfTurn +=
          recordsOf(end.getHandle().getDefiningOp<RegionBeginOp>(), clock);
    }
  }
  return loops;
}
