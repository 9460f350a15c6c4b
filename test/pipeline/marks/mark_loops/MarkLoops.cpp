// SPDX-License-Identifier: Apache-2.0
//
// Names the header of each loop `loop<depth>`.

#include "llvm/Analysis/LoopInfo.h"

#include "MarkLoops.h.inc"

using namespace llvm;

namespace {
struct MarkLoopsPass
    : mlir::triton_ext::mark_loops::impl::MarkLoopsPassBase<MarkLoopsPass> {
  using Base::Base;

  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &,
                        LoopStandardAnalysisResults &, LPMUpdater &) {
    loop.getHeader()->setName("loop" + std::to_string(loop.getLoopDepth()) +
                              "_");
    return PreservedAnalyses::all();
  }
};
} // namespace
