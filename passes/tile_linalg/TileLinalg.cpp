// SPDX-License-Identifier: Apache-2.0
//
// Tiles operations with the TilingInterface, by MLIR's own tiling. Loads, and
// operations for which all tile sizes are 0, are left untouched.

#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#define DEBUG_TYPE "triton-ext-tile-linalg"

namespace mlir::triton_ext::tile_linalg {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_TILELINALGPASS
#include "TileLinalg.h.inc"
} // namespace mlir::triton_ext::tile_linalg

using namespace mlir;

/// Returns whether a tensor is a view of memory, not a copy.
static bool isMemory(Value value) {
  while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    value = slice.getSource();
  return value.getDefiningOp<bufferization::ToTensorOp>() ||
         isa<MemRefType>(value.getType());
}

static bool isLoad(Operation *op) {
  return isa<linalg::CopyOp>(op) && isMemory(op->getOperand(0));
}

/// MLIR's tiling assumes that the n-th init belongs to the n-th result.
static bool isMixed(Operation *op) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  return destination && op->getNumResults() != 0 &&
         int64_t(op->getNumResults()) != destination.getNumDpsInits();
}

/// Returns whether the result may be computed later: it has one user only, and
/// computing it reads no memory that may be written until then.
static bool canBeMadeLater(Operation *op) {
  return op->getNumResults() == 1 && op->getResult(0).hasOneUse() &&
         isMemoryEffectFree(op) && llvm::none_of(op->getOperands(), isMemory);
}

namespace {
struct TileLinalgPass
    : mlir::triton_ext::tile_linalg::impl::TileLinalgPassBase<TileLinalgPass> {
  using TileLinalgPassBase::TileLinalgPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    for (int64_t size : tileSizes)
      if (size < 0)
        return emitError(UnknownLoc::get(context))
               << "expected tile-sizes that are not negative, got " << size;
    return success();
  }

  void runOnOperation() override {
    movable.clear();
    gone.clear();
    SmallVector<TilingInterface> ops;
    getOperation().walk([&](TilingInterface op) {
      ops.push_back(op);
      if (canBeMadeLater(op))
        movable.insert(op);
    });
    IRRewriter rewriter(&getContext());
    // The last operation first, so that users come before what is fused into
    // them.
    for (TilingInterface op : llvm::reverse(ops)) {
      if (gone.contains(op) || isLoad(op) || isMixed(op))
        continue;
      SmallVector<OpFoldResult> sizes = getSizes(op);
      if (llvm::all_of(sizes, isZeroInteger))
        continue;
      scf::SCFTilingOptions options;
      options.setTileSizes(sizes);
      rewriter.setInsertionPoint(op);
      bool isDone = fuse && op->getNumResults() != 0
                        ? tileAndFuse(rewriter, op, options)
                        : tile(rewriter, op, options);
      if (isDone)
        continue;
      op.emitError() << "cannot be done in tiles of these sizes";
      return signalPassFailure();
    }
  }

  /// Returns a tile size for each loop.
  SmallVector<OpFoldResult> getSizes(TilingInterface op) {
    Builder builder(&getContext());
    SmallVector<OpFoldResult> sizes;
    for (auto [number, type] : llvm::enumerate(op.getLoopIteratorTypes())) {
      // A fused init would be initialized again in each step of a reduction.
      bool isTiled = number < tileSizes.size() &&
                     (!fuse || type == utils::IteratorType::parallel);
      sizes.push_back(builder.getIndexAttr(isTiled ? tileSizes[number] : 0));
    }
    return sizes;
  }

  bool tile(IRRewriter &rewriter, TilingInterface op,
            const scf::SCFTilingOptions &options) {
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, op, options);
    if (failed(tiled))
      return false;
    if (op->getNumResults() == 0)
      rewriter.eraseOp(op);
    else
      rewriter.replaceOp(op, tiled->replacements);
    return true;
  }

  bool tileAndFuse(IRRewriter &rewriter, TilingInterface op,
                   const scf::SCFTilingOptions &options) {
    scf::SCFTileAndFuseOptions fused;
    fused.setTilingOptions(options);
    fused.setFusionControlFn(
        [this](tensor::ExtractSliceOp, OpResult producer, bool)
            -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
          if (!movable.contains(producer.getOwner()))
            return std::nullopt;
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        });
    FailureOr<scf::SCFTileAndFuseResult> tiled =
        scf::tileConsumerAndFuseProducersUsingSCF(rewriter, op, fused);
    if (failed(tiled))
      return false;
    SmallVector<Value> replacements;
    for (OpResult result : op->getResults())
      replacements.push_back(tiled->replacements.lookup(result));
    rewriter.replaceOp(op, replacements);
    // Users come before the operations that compute their operands.
    for (Operation *producer : tiled->fusedProducers)
      if (isOpTriviallyDead(producer)) {
        gone.insert(producer);
        rewriter.eraseOp(producer);
      }
    return true;
  }

  /// The operations that may be moved into the loops of their user, and those
  /// that were.
  llvm::SmallPtrSet<Operation *, 16> movable, gone;
};
} // namespace
