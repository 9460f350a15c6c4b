// SPDX-License-Identifier: Apache-2.0
//
// The loops of each operation that can be done a tile at a time. What has to be
// done in one go, as the dimension of a scan, is no loop.

#include "Tiling.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;
using utils::IteratorType;
using Dims = SmallVector<TiledDim>;

static int64_t rankOf(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

/// `count` dimensions, along as many loops from `first` on.
static Dims alongLoops(int64_t count, unsigned first = 0) {
  Dims dims;
  for (unsigned loop = first; loop < first + count; ++loop)
    dims.push_back(TiledDim::along(loop));
  return dims;
}

static TilingPlan planOf(Operation *op, int64_t numLoops,
                         IteratorType type = IteratorType::parallel) {
  TilingPlan plan;
  plan.loops.assign(numLoops, type);
  plan.operands.resize(op->getNumOperands());
  return plan;
}

/// Atomics on a tensor, in no loop: a part of it is not a part of the memory
/// that it stands for.
static bool isOnTensorMemory(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AtomicCASOp, AtomicRMWOp, GatherAtomicCASOp, GatherAtomicRMWOp>(
          [](auto op) {
            return isa<RankedTensorType>(op.getMemory().getType());
          })
      .Default([](Operation *) { return false; });
}

/// Element for element: every array among the operands is as large as the
/// loops are long.
static TilingPlan planElementwise(Operation *op) {
  // Of a vector there are no slices here.
  if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>))
    return planOf(op, 0);
  int64_t rank = 0;
  for (Type type : op->getOperandTypes())
    if (isa<RankedTensorType, MemRefType>(type))
      rank = cast<ShapedType>(type).getRank();
  TilingPlan plan = planOf(op, rank);
  for (auto [type, dims] : llvm::zip(op->getOperandTypes(), plan.operands))
    if (isa<RankedTensorType, MemRefType>(type))
      dims = alongLoops(rank);
  return plan;
}

/// Loops over the init alone; the rest depends on where the tile is.
static TilingPlan planOfInit(Operation *op, OpOperand &init) {
  TilingPlan plan = planOf(op, rankOf(init.get()));
  plan.operands[init.getOperandNumber()] = alongLoops(plan.loops.size());
  return plan;
}

/// gather and scatter: loops over the batch, and over dimensions of the windows
/// that no index moves. A part of the others would be elsewhere in `whole`,
/// where indices that count from its beginning do not reach.
template <typename OpTy>
static TilingPlan planIndexed(OpTy op, OpOperand &whole, OpOperand &windows,
                              IteratorType batchType, bool firstOnly) {
  int64_t batchRank = rankOf(op.getIndices()) - 1;
  int64_t batchLoops = firstOnly ? std::min<int64_t>(batchRank, 1) : batchRank;
  TilingPlan plan = planOf(op, batchLoops, batchType);
  Dims batch = alongLoops(batchLoops);
  batch.resize(batchRank);
  if (op.getMask())
    plan.operands[op.getMaskMutable().begin()->getOperandNumber()] = batch;
  Dims window(rankOf(whole.get())), inWhole(window);
  for (int64_t dim = 0; dim < rankOf(whole.get()); ++dim) {
    if (llvm::is_contained(op.getDimensionMap(), dim))
      continue;
    window[dim] = TiledDim::along(plan.loops.size());
    inWhole[dim] = {TiledDim::Part, unsigned(plan.loops.size())};
    plan.loops.push_back(IteratorType::parallel);
  }
  plan.operands[whole.getOperandNumber()] = inWhole;
  Dims all(batch);
  all.append(window);
  plan.operands[windows.getOperandNumber()] = all;
  batch.emplace_back();
  plan.operands[op.getIndicesMutable().getOperandNumber()] = batch;
  return plan;
}

static TilingPlan planOfScan(ScanOp op) {
  unsigned dimension = op.getDimension();
  int64_t rank = rankOf(op.getInputs().front());
  TilingPlan plan = planOf(op, rank - 1);
  Dims line = alongLoops(rank - 1), dims(line);
  dims.insert(dims.begin() + dimension, TiledDim());
  for (auto [value, ofOperand] : llvm::zip(op->getOperands(), plan.operands))
    ofOperand = rankOf(value) == rank ? dims : line;
  return plan;
}

static TilingPlan planOfFlip(FlipOp op) {
  TilingPlan plan = planElementwise(op);
  plan.operands[op.getInputMutable().getOperandNumber()][op.getDimension()]
      .kind = TiledDim::Mirrored;
  return plan;
}

/// Sums of ones, in any order.
static TilingPlan planOfHistogram(HistogramOp op) {
  TilingPlan plan = planOf(op, rankOf(op.getInput()), IteratorType::reduction);
  llvm::fill(plan.operands, alongLoops(plan.loops.size()));
  plan.operands[op.getInitMutable().getOperandNumber()].clear();
  return plan;
}

/// Loops over the inputs; the inits lack the reduced dimensions.
static TilingPlan planReduction(DestinationStyleOpInterface op,
                                ArrayRef<int64_t> reduced) {
  int64_t rank = rankOf(op->getOperand(0));
  TilingPlan plan = planOf(op, rank);
  Dims kept;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (llvm::is_contained(reduced, dim))
      plan.loops[dim] = IteratorType::reduction;
    else
      kept.push_back(TiledDim::along(dim));
  }
  for (OpOperand &operand : op->getOpOperands())
    plan.operands[operand.getOperandNumber()] =
        op.isDpsInit(&operand) ? kept : alongLoops(rank);
  return plan;
}

/// The dimension `dim` of an image, 0 for its height and 1 for its width.
template <typename OpTy>
static TiledDim windowsOf(OpTy op, unsigned dim, unsigned loop,
                          unsigned inner) {
  return {TiledDim::Window, loop, inner, op.getStrides()[dim],
          op.getDilations()[dim]};
}

/// Loops b, n, y, x, f, h, w, c.
static TilingPlan planOfConv(BatchConv2DNhwcFhwcOp op) {
  TilingPlan plan = planOf(op, 8);
  for (unsigned loop : {5, 6, 7})
    plan.loops[loop] = IteratorType::reduction;
  auto at = TiledDim::along;
  plan.operands = {
      {at(0), at(1), windowsOf(op, 0, 2, 5), windowsOf(op, 1, 3, 6), at(7)},
      {at(0), at(4), at(5), at(6), at(7)},
      alongLoops(5)};
  return plan;
}

/// Loops n, y, x, h, w, c.
static TilingPlan planOfIm2Col(Im2ColOp op) {
  TilingPlan plan = planOf(op, 6);
  auto at = TiledDim::along;
  plan.operands = {
      {at(0), windowsOf(op, 0, 1, 3), windowsOf(op, 1, 2, 4), at(5)},
      alongLoops(6)};
  return plan;
}

/// Loops n, y, x, c, h, w.
template <typename OpTy> static TilingPlan planPooling(OpTy op) {
  TilingPlan plan = planOf(op, 6);
  for (unsigned loop : {4, 5})
    plan.loops[loop] = IteratorType::reduction;
  auto at = TiledDim::along;
  plan.operands = {
      {at(0), windowsOf(op, 0, 1, 4), windowsOf(op, 1, 2, 5), at(3)},
      {at(4), at(5)},
      alongLoops(4)};
  return plan;
}

/// Atomics by index: all but the memory, which the indices are of.
template <typename OpTy> static TilingPlan planGatherAtomic(OpTy op) {
  TilingPlan plan = planOf(op, 1);
  for (auto [value, dims] : llvm::zip(op->getOperands(), plan.operands)) {
    dims = alongLoops(1);
    dims.resize(rankOf(value));
  }
  plan.operands[op.getMemoryMutable().getOperandNumber()].clear();
  return plan;
}

TilingPlan mlir::triton_ext::linalg_ext::getTilingPlan(Operation *op) {
  if (isOnTensorMemory(op))
    return planOf(op, 0);
  return llvm::TypeSwitch<Operation *, TilingPlan>(op)
      .Case<AssertOp, AtomicCASOp, AtomicRMWOp, LibdeviceCallOp>(
          [](Operation *op) { return planElementwise(op); })
      .Case<MakeRangeOp, PadOp, TriOp>(
          [](auto op) { return planOfInit(op, op.getInitMutable()); })
      .Case([](GatherOp op) {
        return planIndexed(op, op.getInputMutable(), op.getInitMutable(),
                           IteratorType::parallel, /*firstOnly=*/false);
      })
      // Every element of the batch may write anywhere. Where the order counts,
      // only tiles of the first dimension keep it.
      .Case([](ScatterOp op) {
        return planIndexed(op, op.getInitMutable(), op.getUpdateMutable(),
                           IteratorType::reduction, op.getOverlapWindow());
      })
      .Case([](ScanOp op) { return planOfScan(op); })
      .Case([](FlipOp op) { return planOfFlip(op); })
      .Case([](HistogramOp op) { return planOfHistogram(op); })
      .Case<ReduceSumOp, ReduceMaxOp, ReduceMinOp, ReduceMaxNanOp,
            ReduceMinNanOp>(
          [](auto op) { return planReduction(op, op.getDimensions()); })
      .Case<ArgMaxOp, ArgMinOp>(
          [](auto op) { return planReduction(op, int64_t(op.getDimension())); })
      .Case([](BatchConv2DNhwcFhwcOp op) { return planOfConv(op); })
      .Case([](Im2ColOp op) { return planOfIm2Col(op); })
      .Case<PoolingNhwcMaxNanOp, PoolingNhwcMinNanOp>(
          [](auto op) { return planPooling(op); })
      .Case<GatherAtomicCASOp, GatherAtomicRMWOp>(
          [](auto op) { return planGatherAtomic(op); });
}
