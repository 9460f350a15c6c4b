// SPDX-License-Identifier: Apache-2.0
//
// Tiles operations with the TilingInterface, by MLIR's own tiling. Loads, and
// operations for which all tile sizes are 0, are left untouched.

#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
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

/// Returns whether the result may be computed earlier, as soon as the operands
/// are there: computing it reads no memory.
static bool canBeMadeEarlier(Operation *op) {
  return op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         llvm::none_of(op->getOperands(), isMemory);
}

/// Replaces the sizes of results by those that the operations were given, so
/// that no result is kept only because of its size.
static void resolveShapes(Operation *root, IRRewriter &rewriter) {
  SmallVector<tensor::DimOp> dims;
  root->walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  while (!dims.empty()) {
    tensor::DimOp dim = dims.pop_back_val();
    auto result = dyn_cast<OpResult>(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    ReifiedRankedShapedTypeDims shapes;
    rewriter.setInsertionPoint(dim);
    if (!result || !index || *index < 0 ||
        *index >= cast<ShapedType>(result.getType()).getRank() ||
        !isa<ReifyRankedShapedTypeOpInterface>(result.getOwner()) ||
        failed(reifyResultShapes(rewriter, result.getOwner(), shapes)))
      continue;
    Value size = getValueOrCreateConstantIndexOp(
        rewriter, dim.getLoc(), shapes[result.getResultNumber()][*index]);
    if (size == dim.getResult())
      continue;
    rewriter.replaceOp(dim, size);
    // The size may come from several others, as in an affine.apply.
    SmallVector<Value> reached{size};
    while (!reached.empty()) {
      Operation *maker = reached.pop_back_val().getDefiningOp();
      if (auto next = dyn_cast_or_null<tensor::DimOp>(maker))
        dims.push_back(next);
      else if (isa_and_nonnull<affine::AffineApplyOp>(maker))
        llvm::append_range(reached, maker->getOperands());
    }
  }
  root->walk([&](tensor::DimOp dim) {
    if (dim->use_empty())
      rewriter.eraseOp(dim);
  });
}

namespace {
struct TileLinalgPass
    : mlir::triton_ext::tile_linalg::impl::TileLinalgPassBase<TileLinalgPass> {
  using TileLinalgPassBase::TileLinalgPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (fuse && fuseUsers)
      return emitError(UnknownLoc::get(context))
             << "expected fuse or fuse-users, got both";
    for (int64_t size : tileSizes)
      if (size < 0)
        return emitError(UnknownLoc::get(context))
               << "expected tile-sizes that are not negative, got " << size;
    return success();
  }

  void runOnOperation() override {
    movable.clear();
    gone.clear();
    tried.clear();
    IRRewriter rewriter(&getContext());
    resolveShapes(getOperation(), rewriter);
    SmallVector<TilingInterface> ops;
    getOperation().walk([&](TilingInterface op) {
      ops.push_back(op);
      if (canBeMadeLater(op))
        movable.insert(op);
    });
    // An operation comes before what is fused into it: its users, or the
    // operations that compute its operands.
    if (!fuseUsers)
      std::reverse(ops.begin(), ops.end());
    for (TilingInterface op : ops) {
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
      // A fused init would be initialized again in each step of a reduction,
      // and a fused user would get the parts of a sum.
      bool isTiled =
          number < tileSizes.size() &&
          (!(fuse || fuseUsers) || type == utils::IteratorType::parallel);
      sizes.push_back(builder.getIndexAttr(isTiled ? tileSizes[number] : 0));
    }
    return sizes;
  }

  bool tile(IRRewriter &rewriter, TilingInterface op,
            const scf::SCFTilingOptions &options) {
    FailureOr<scf::SCFTilingResult> tiled = failure();
    if (partialReductions)
      tiled = tileInParts(rewriter, op, options);
    if (failed(tiled))
      tiled = scf::tileUsingSCF(rewriter, op, options);
    if (failed(tiled))
      return false;
    if (op->getNumResults() == 0)
      rewriter.eraseOp(op);
    else
      rewriter.replaceOp(op, tiled->replacements);
    if (fuseUsers && !tiled->loops.empty())
      fuseUsersOf(rewriter, tiled->loops);
    return true;
  }

  /// Tiles the reduced loops so that each element of a tile has a result of its
  /// own. Fails if the operation cannot be reduced in parts.
  FailureOr<scf::SCFTilingResult> tileInParts(IRRewriter &rewriter,
                                              TilingInterface op,
                                              scf::SCFTilingOptions options) {
    SmallVector<unsigned> reduced;
    SmallVector<OpFoldResult> sizes = getSizes(op);
    for (auto [loop, type] : llvm::enumerate(op.getLoopIteratorTypes()))
      if (type == utils::IteratorType::reduction && !isZeroInteger(sizes[loop]))
        reduced.push_back(loop);
    if (reduced.empty() || op->getNumResults() == 0 ||
        !isa<PartialReductionOpInterface>(*op))
      return failure();
    options.setReductionTilingStrategy(
        ReductionTilingStrategy::PartialReductionOuterReduction);
    options.setReductionDims(reduced);
    return scf::tileUsingSCF(rewriter, op, options);
  }

  /// Computes the users of the results of a loop nest in the same loops, and
  /// their users in turn, where that is possible.
  void fuseUsersOf(IRRewriter &rewriter,
                   MutableArrayRef<LoopLikeOpInterface> loops) {
    while (Operation *user = getFusableUser(loops.front())) {
      tried.insert(user);
      if (failed(scf::tileAndFuseConsumer(rewriter, user, loops)))
        continue;
      gone.insert(user);
      if (isOpTriviallyDead(user))
        rewriter.eraseOp(user);
    }
  }

  /// Returns a user of a result of the loop that has not been tried.
  Operation *getFusableUser(Operation *loop) {
    for (Operation *user : loop->getUsers())
      if (isa<TilingInterface>(user) && user->getBlock() == loop->getBlock() &&
          !tried.contains(user) && !gone.contains(user) &&
          canBeMadeEarlier(user))
        return user;
    return nullptr;
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

  /// The operations that may be moved into the loops of their user, those that
  /// were fused, and those that may not be fused into the loops of an operand.
  llvm::SmallPtrSet<Operation *, 16> movable, gone, tried;
};
} // namespace
