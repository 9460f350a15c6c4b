// SPDX-License-Identifier: Apache-2.0
//
// Moves the clocks of the ends of regions, and the stores of their records, to
// the end of the body of a pipelined loop. What the loop computes stays as it
// is. Needs the attribute `probe.end`, with which lower_probe marks them.

#include "FirstLanes.h"
#include "GridOfAmd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "triton/Dialect/TritonNvidiaGPU/IR/Dialect.h"

namespace mlir::triton_ext::settle_regions {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_SETTLEREGIONSPASS
#include "SettleRegions.h.inc"
} // namespace mlir::triton_ext::settle_regions

using namespace mlir;
namespace tt = mlir::triton;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

/// What lower_probe marks: the clock of a region's end, and the stores of its
/// record.
static constexpr StringRef kEnd = "probe.end";

namespace {
struct SettleRegionsPass
    : mlir::triton_ext::settle_regions::impl::SettleRegionsPassBase<
          SettleRegionsPass> {
  using SettleRegionsPassBase::SettleRegionsPassBase;

  void runOnOperation() override;
};
} // namespace

/// Returns whether `op` starts a copy to shared memory.
static bool isCopy(Operation *op) {
  return isa<ttg::AsyncCopyGlobalToLocalOp, ttng::AsyncTMACopyGlobalToLocalOp>(
      op);
}

/// Returns whether `op` computes addresses or masks, or starts a copy to shared
/// memory for a later turn. Arithmetic of tensors that are neither pointers nor
/// masks may be the kernel's own work, whose time is not the region's.
static bool isPreparation(Operation *op) {
  if (isCopy(op) ||
      isa<ttg::AsyncCommitGroupOp, ttng::BarrierExpectOp, tt::SplatOp>(op))
    return true;
  if (!isMemoryEffectFree(op) || op->getNumRegions() ||
      isa<tt::ElementwiseInlineAsmOp>(op))
    return false;
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    if (isa<ttg::MemDescType>(type))
      return true;
    Type element = getElementTypeOrSelf(type);
    return isa<tt::PointerType>(element) || element.isInteger(1) ||
           (element == type && type.isIntOrIndex());
  });
}

/// Moves what is marked in `block`, and all that depends on it there, before
/// the terminator, if only preparations follow it, a copy among them. Without a
/// copy the loop is not pipelined, and the arithmetic may be the kernel's work.
static void settle(Block &block) {
  Operation *last = block.getTerminator(), *first = nullptr;
  bool hasCopy = false;
  for (Operation *op = last->getPrevNode(); op; op = op->getPrevNode()) {
    hasCopy |= isCopy(op);
    if (op->hasAttr(kEnd)) {
      if (hasCopy)
        first = op;
    } else if (!isPreparation(op)) {
      break;
    }
  }
  if (!first)
    return;
  SetVector<Operation *> moved;
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (op->hasAttr(kEnd) ||
        llvm::any_of(op->getOperands(), [&](Value operand) {
          return moved.contains(operand.getDefiningOp());
        }))
      moved.insert(op);
  for (Operation *op : moved)
    op->moveBefore(last);
}

void SettleRegionsPass::runOnOperation() {
  ModuleOp module = getOperation();
  module.walk([](scf::ForOp loop) { settle(*loop.getBody()); });
  module.walk([](Operation *op) { op->removeAttr(kEnd); });
  triton_ext::probe::expandFirstLanes(module);
  triton_ext::probe::defineGridOfAmd(module);
}
