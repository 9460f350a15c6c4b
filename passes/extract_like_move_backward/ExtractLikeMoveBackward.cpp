// SPDX-License-Identifier: Apache-2.0
//
// Moves tensor.extract and tensor.extract_slice over the operations that
// compute their tensors, which are then done for the part. The tensors
// themselves are left untouched.

#include "Moves.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#define DEBUG_TYPE "triton-ext-extract-like-move-backward"

namespace mlir::triton_ext::extract_like_move_backward {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_EXTRACTLIKEMOVEBACKWARDPASS
#include "ExtractLikeMoveBackward.h.inc"
} // namespace mlir::triton_ext::extract_like_move_backward

using namespace mlir;
using namespace mlir::triton_ext::extract_like_move_backward;

/// The largest number of operations that one extract moves over. If tensors are
/// used several times, there are many paths to them.
static constexpr unsigned maxSteps = 100;

/// Replaces the operation, where that can be done, and adds to `extracts` those
/// that this makes.
static void moveBackward(Operation *op, CarriedParts &carried,
                         SmallVector<Operation *> &extracts) {
  if (op->use_empty())
    return;
  Value part;
  if (isa<BlockArgument>(op->getOperand(0)))
    part = carried.find(op);
  else if (isa<scf::ForOp>(op->getOperand(0).getDefiningOp()))
    part = carried.carry(op, extracts);
  else if (auto element = dyn_cast<tensor::ExtractOp>(op))
    part = computeElement(element, extracts);
  else
    part = computeSlice(cast<tensor::ExtractSliceOp>(op), extracts);
  if (part)
    op->getResult(0).replaceAllUsesWith(part);
}

namespace {
struct ExtractLikeMoveBackwardPass
    : mlir::triton_ext::extract_like_move_backward::impl::
          ExtractLikeMoveBackwardPassBase<ExtractLikeMoveBackwardPass> {
  using ExtractLikeMoveBackwardPassBase::ExtractLikeMoveBackwardPassBase;

  bool moves(Operation *op) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    return isa<tensor::ExtractOp>(op) ||
           (slice && (dynamicSlices || slice.getType().hasStaticShape()));
  }

  void runOnOperation() override {
    SmallVector<Operation *> roots;
    getOperation().walk([&](Operation *op) {
      if (moves(op))
        roots.push_back(op);
    });
    CarriedParts carried;
    SmallVector<Operation *> moved;
    for (Operation *root : roots) {
      SmallVector<Operation *> extracts = {root};
      for (unsigned steps = 0; !extracts.empty() && steps < maxSteps; ++steps) {
        moved.push_back(extracts.pop_back_val());
        moveBackward(moved.back(), carried, extracts);
      }
    }
    for (Operation *op : llvm::reverse(moved))
      if (op->use_empty())
        op->erase();
    carried.release();
  }
};
} // namespace
