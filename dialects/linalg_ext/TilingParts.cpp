// SPDX-License-Identifier: Apache-2.0
//
// Reductions in parts side by side: each element of a tile is combined with the
// same elements of the other tiles, and one reduction merges the results. In
// between, the reduced loops are parallel, so that a target can use vectors.
// A part in which no element has arrived holds the neutral element.

#include "TilingSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

namespace {
/// How parts are merged: by the reduction of this name.
enum class Merge { Sum, Max, Min, MaxNan, MinNan, ArgMax, ArgMin };
} // namespace

static Merge mergeOf(Operation *op) {
  return llvm::StringSwitch<Merge>(op->getName().stripDialect())
      .Cases({"reduce_sum", "batch_conv_2d_nhwc_fhwc"}, Merge::Sum)
      .Case("reduce_max", Merge::Max)
      .Case("reduce_min", Merge::Min)
      .Cases({"reduce_max_nan", "pooling_nhwc_max_nan"}, Merge::MaxNan)
      .Cases({"reduce_min_nan", "pooling_nhwc_min_nan"}, Merge::MinNan)
      .Case("argmax", Merge::ArgMax)
      .Case("argmin", Merge::ArgMin);
}

/// Returns whether parts give the same result as the whole. The pair of argmax
/// or argmin depends on the order of its elements if one is NaN, or if any of
/// several equal ones will do: then a neutral pair could replace an element.
static bool canBeInParts(Operation *op) {
  auto tie = op->getAttrOfType<BoolAttr>("tie_break_left");
  Merge merge = mergeOf(op);
  if (merge != Merge::ArgMax && merge != Merge::ArgMin)
    return true;
  Type value = getElementTypeOrSelf(op->getOperand(0).getType());
  return tie && tie.getValue() && !isa<FloatType>(value);
}

/// Returns the element that changes no other one in the reduction. `isIndex`:
/// of the indices of argmax or argmin, of which the smaller one wins.
static TypedAttr getNeutral(Builder &builder, Merge merge, Type type,
                            bool isIndex) {
  if (auto floats = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floats.getFloatSemantics();
    bool isMax = merge == Merge::MaxNan;
    // -0.0 + x is x for each x, also for -0.0. A NaN counts only where there is
    // nothing else, in reduce_max and reduce_min.
    if (merge == Merge::Sum)
      return builder.getFloatAttr(type, APFloat::getZero(semantics, true));
    if (merge == Merge::Max || merge == Merge::Min)
      return builder.getFloatAttr(type, APFloat::getNaN(semantics));
    return builder.getFloatAttr(type, APFloat::getInf(semantics, isMax));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool isMax = merge == Merge::Max || merge == Merge::ArgMax;
  if (merge == Merge::Sum)
    return builder.getIntegerAttr(type, 0);
  if (isMax && !isIndex)
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(width));
  return builder.getIntegerAttr(type, APInt::getSignedMaxValue(width));
}

/// Returns the position of a tile in the parts: that in the result, and the
/// beginning of each added dimension.
static Slice sliceOfParts(Operation *op, OpBuilder &builder, OpOperand &init,
                          Tile tile, const SetVector<unsigned> &reduced) {
  TilingPlan plan = getTilingPlan(op);
  Slice slice = getSlice(builder, op->getLoc(), init.get(),
                         plan.operands[init.getOperandNumber()], tile);
  for (unsigned loop : reduced) {
    slice.offsets.push_back(builder.getIndexAttr(0));
    slice.sizes.push_back(tile.sizes[loop]);
  }
  return slice;
}

FailureOr<SmallVector<Value>> mlir::triton_ext::linalg_ext::getInitialParts(
    Operation *op, OpBuilder &builder, ArrayRef<OpFoldResult> sizes,
    const SetVector<unsigned> &reduced) {
  if (!canBeInParts(op) || op->getNumResults() == 0)
    return failure();
  Location loc = op->getLoc();
  SmallVector<Value> parts;
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    Value init = getInitOf(op, result).get();
    Type element = getElementTypeOrSelf(init.getType());
    Numbers shape = tensor::getMixedSizes(builder, loc, init);
    for (unsigned loop : reduced)
      shape.push_back(sizes[loop]);
    Value neutral = arith::ConstantOp::create(
        builder, loc, getNeutral(builder, mergeOf(op), element, result == 1));
    Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
    parts.push_back(
        linalg::FillOp::create(builder, loc, neutral, empty).getResult(0));
  }
  return parts;
}

FailureOr<TilingResult> mlir::triton_ext::linalg_ext::getTileOfParts(
    Operation *op, OpBuilder &builder, ReductionTilingStrategy strategy,
    ValueRange parts, Tile tile, const SetVector<unsigned> &reduced) {
  if (strategy != ReductionTilingStrategy::PartialReductionOuterReduction)
    return failure();
  Location loc = op->getLoc();
  TilingPlan plan = getTilingPlan(op);
  auto structured = cast<linalg::LinalgOp>(op);
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  SmallVector<Operation *> slices;
  SmallVector<Value> inputs, inits;
  for (OpOperand *input : structured.getDpsInputOperands()) {
    ArrayRef<TiledDim> dims = plan.operands[input->getOperandNumber()];
    inputs.push_back(takeSlice(builder, loc, input->get(),
                               getSlice(builder, loc, input->get(), dims, tile),
                               slices));
  }
  for (auto [number, part] : llvm::enumerate(parts)) {
    OpOperand &init = getInitOf(op, number);
    inits.push_back(takeSlice(builder, loc, part,
                              sliceOfParts(op, builder, init, tile, reduced),
                              slices));
    AffineMap &map = maps[init.getOperandNumber()];
    for (unsigned loop : reduced)
      map =
          map.insertResult(builder.getAffineDimExpr(loop), map.getNumResults());
  }
  SmallVector<utils::IteratorType> loops = plan.loops;
  for (unsigned loop : reduced)
    loops[loop] = utils::IteratorType::parallel;
  auto tiled = linalg::GenericOp::create(
      builder, loc, ValueRange(inits).getTypes(), inputs, inits, maps, loops);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&tiled.getRegion(), mapping);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

FailureOr<MergeResult>
mlir::triton_ext::linalg_ext::mergeParts(Operation *op, OpBuilder &builder,
                                         ValueRange parts,
                                         const SetVector<unsigned> &reduced) {
  Location loc = op->getLoc();
  SmallVector<Value> operands(parts);
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    operands.push_back(getInitOf(op, result).get());
  int64_t rank = cast<ShapedType>(operands.back().getType()).getRank();
  SmallVector<int64_t> dimensions;
  for (size_t added = 0; added < reduced.size(); ++added)
    dimensions.push_back(rank + added);
  TypeRange types = op->getResultTypes();
  NamedAttribute attributes[] = {builder.getNamedAttr(
      "dimensions", builder.getDenseI64ArrayAttr(dimensions))};
  NamedAttribute ofArg[] = {
      builder.getNamedAttr("dimension", builder.getI64IntegerAttr(rank)),
      builder.getNamedAttr("tie_break_left", builder.getBoolAttr(true))};
  auto make = [&]() -> Operation * {
    switch (mergeOf(op)) {
    case Merge::Sum:
      return ReduceSumOp::create(builder, loc, types, operands, attributes);
    case Merge::Max:
      return ReduceMaxOp::create(builder, loc, types, operands, attributes);
    case Merge::Min:
      return ReduceMinOp::create(builder, loc, types, operands, attributes);
    case Merge::MaxNan:
      return ReduceMaxNanOp::create(builder, loc, types, operands, attributes);
    case Merge::MinNan:
      return ReduceMinNanOp::create(builder, loc, types, operands, attributes);
    case Merge::ArgMax:
      return ArgMaxOp::create(builder, loc, types, operands, ofArg);
    case Merge::ArgMin:
      return ArgMinOp::create(builder, loc, types, operands, ofArg);
    }
    llvm_unreachable("a reduction without a name");
  };
  Operation *merged = make();
  return MergeResult{{merged}, SmallVector<Value>(merged->getResults())};
}

LogicalResult mlir::triton_ext::linalg_ext::getPositionOfParts(
    Operation *op, OpBuilder &builder, unsigned result,
    ReductionTilingStrategy strategy, Tile tile,
    const SetVector<unsigned> &reduced, SmallVector<OpFoldResult> &offsets,
    SmallVector<OpFoldResult> &sizes) {
  if (strategy != ReductionTilingStrategy::PartialReductionOuterReduction)
    return failure();
  Slice slice = sliceOfParts(op, builder, getInitOf(op, result), tile, reduced);
  offsets = slice.offsets;
  sizes = slice.sizes;
  return success();
}
