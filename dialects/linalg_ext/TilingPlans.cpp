// SPDX-License-Identifier: Apache-2.0
//
// The tiling plan of each operation. A dimension that cannot be split into
// tiles, such as the dimension of a scan, gets no loop.

#include "Tiling.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;
using utils::IteratorType;
using Dims = SmallVector<TiledDim>;

static int64_t rankOf(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

/// Returns `count` dimensions, along the loops `first`, `first` + 1, ...
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

/// Returns whether the operation is an atomic on a tensor. It cannot be tiled:
/// the tensor stands for memory, and a slice of it is a new tensor that does
/// not stand for a part of this memory.
static bool isOnTensorMemory(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AtomicCASOp, AtomicRMWOp, GatherAtomicCASOp, GatherAtomicRMWOp>(
          [](auto op) {
            return isa<RankedTensorType>(op.getMemory().getType());
          })
      .Default([](Operation *) { return false; });
}

/// Plans an elementwise operation: a loop along each dimension, which all
/// arrays among the operands have.
static TilingPlan planElementwise(Operation *op) {
  // A vector cannot be sliced here, so there are no loops.
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

/// Plans loops over the init alone. The other operands are not sliced; getTiled
/// adapts them to the position of the tile.
static TilingPlan planOfInit(Operation *op, OpOperand &init) {
  TilingPlan plan = planOf(op, rankOf(init.get()));
  plan.operands[init.getOperandNumber()] = alongLoops(plan.loops.size());
  return plan;
}

/// Plans gather and scatter: loops over the batch, and over the dimensions of
/// the windows that are not in the dimension map. The other dimensions have no
/// loops: an index gives the position of a window in all of `whole`, and would
/// be wrong for a slice of it.
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
  if (rank == 0)
    return planOf(op, 0);
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

/// Plans loops over the input. All are reductions, because a histogram is a sum
/// of ones, which may be added in any order.
static TilingPlan planOfHistogram(HistogramOp op) {
  TilingPlan plan = planOf(op, rankOf(op.getInput()), IteratorType::reduction);
  llvm::fill(plan.operands, alongLoops(plan.loops.size()));
  plan.operands[op.getInitMutable().getOperandNumber()].clear();
  return plan;
}

/// Plans loops over the inputs. The inits do not have the reduced dimensions.
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

/// Returns the part of an image that windows need along its height (`dim` = 0)
/// or width (`dim` = 1).
template <typename OpTy>
static TiledDim windowsOf(OpTy op, unsigned dim, unsigned loop,
                          unsigned inner) {
  return {TiledDim::Window, loop, inner, op.getStrides()[dim],
          op.getDilations()[dim]};
}

/// Plans the loops b, n, y, x, f, h, w, c.
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

/// Plans the loops n, y, x, h, w, c.
static TilingPlan planOfIm2Col(Im2ColOp op) {
  TilingPlan plan = planOf(op, 6);
  auto at = TiledDim::along;
  plan.operands = {
      {at(0), windowsOf(op, 0, 1, 3), windowsOf(op, 1, 2, 4), at(5)},
      alongLoops(6)};
  return plan;
}

/// Plans the loops n, y, x, c, h, w.
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

/// Plans one loop over the elements of an atomic with indices. Every tile needs
/// all of the memory, because an index may point anywhere in it.
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
      // Each element of the batch may write anywhere. If windows may overlap,
      // the last write wins, so the order of the writes must stay. Tiling only
      // the first dimension of the batch keeps it.
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
