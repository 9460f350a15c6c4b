// SPDX-License-Identifier: Apache-2.0
//
// Implements TilingInterface for the operations of this dialect. A tile is a
// copy of the operation on slices of its operands, which the operation's plan
// determines. Three operations also need operands that depend on the tile's
// position: the margins of pad, the start of make_range and the diagonal of
// tri.

#include "TilingSlices.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;

//===----------------------------------------------------------------------===//
// Operands that depend on the position of the tile
//===----------------------------------------------------------------------===//

/// Sets the start and the end of a range to those of the tile.
static void moveRange(OpBuilder &builder, MakeRangeOp op, Tile tile,
                      MutableArrayRef<Value> operands) {
  Location loc = op.getLoc();
  auto add = [&](Value integer, OpFoldResult index) {
    Value number = getValueOrCreateConstantIndexOp(builder, loc, index);
    Value cast = builder.createOrFold<arith::IndexCastOp>(
        loc, integer.getType(), number);
    return builder.createOrFold<arith::AddIOp>(loc, integer, cast);
  };
  operands[0] = add(op.getStart(), tile.offsets[0]);
  operands[1] = add(operands[0], tile.sizes[0]);
}

/// Sets the diagonal relative to the first row and column of the tile.
static void moveDiagonal(OpBuilder &builder, TriOp op, Tile tile,
                         MutableArrayRef<Value> operands) {
  Arithmetic math{builder, op.getLoc()};
  OpFoldResult diagonal =
      math.apply(math.d(0) + math.d(1) - math.d(2),
                 {op.getDiagonal(), tile.offsets[0], tile.offsets[1]});
  operands[0] = getValueOrCreateConstantIndexOp(builder, op.getLoc(), diagonal);
}

/// Creates a pad of the part of the input that is in the tile, with the parts
/// of the margins that are in the tile.
static Operation *tilePad(OpBuilder &builder, PadOp op, Tile tile, Value init,
                          SmallVector<Operation *> &slices) {
  Location loc = op.getLoc();
  Arithmetic math{builder, loc};
  AffineExpr d0 = math.d(0), d1 = math.d(1), d2 = math.d(2);
  OpFoldResult zero = builder.getIndexAttr(0);
  Numbers lows, highs;
  Slice slice;
  for (auto [dim, low] : llvm::enumerate(op.getMixedLow())) {
    OpFoldResult offset = tile.offsets[dim], size = tile.sizes[dim];
    OpFoldResult inputSize = sizeOf(builder, loc, op.getInput(), dim);
    // Begin and end of the tile, as positions in the input.
    auto inInput = [&](OpFoldResult where) {
      return math.minimum(math.maximum(where, zero), inputSize);
    };
    OpFoldResult begin = inInput(math.apply(d0 - d1, {offset, low}));
    OpFoldResult end = inInput(math.apply(d0 + d1 - d2, {offset, size, low}));
    OpFoldResult taken = math.apply(d0 - d1, {end, begin});
    OpFoldResult before = math.minimum(
        math.maximum(math.apply(d0 - d1, {low, offset}), zero), size);
    // Even an empty slice must begin inside the input.
    OpFoldResult last = math.maximum(math.apply(d0 - 1, {inputSize}), zero);
    slice.offsets.push_back(math.minimum(begin, last));
    slice.sizes.push_back(taken);
    lows.push_back(before);
    highs.push_back(math.apply(d0 - d1 - d2, {size, before, taken}));
  }
  Value input = op.getInput();
  // An empty input has no inside, so no slice is taken from it.
  if (!llvm::is_contained(cast<ShapedType>(input.getType()).getShape(), 0))
    input = takeSlice(builder, loc, input, slice, slices);
  auto pad =
      PadOp::create(builder, loc, input, init, op.getPvalue(), lows, highs);
  IRMapping mapping;
  pad.getBody().front().erase();
  op.getBody().cloneInto(&pad.getBody(), mapping);
  pad->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return pad;
}

//===----------------------------------------------------------------------===//
// TilingInterface
//===----------------------------------------------------------------------===//

SmallVector<Range>
mlir::triton_ext::linalg_ext::getIterationDomain(Operation *op,
                                                 OpBuilder &builder) {
  TilingPlan plan = getTilingPlan(op);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  SmallVector<Range> domain;
  for (unsigned loop = 0; loop < plan.loops.size(); ++loop) {
    // The loop may run along dimensions of several operands. Prefer one whose
    // size is static.
    Value array;
    int64_t found = 0;
    for (auto [value, dims] : llvm::zip(op->getOperands(), plan.operands))
      for (auto [number, dim] : llvm::enumerate(dims)) {
        bool isKnown =
            array && !cast<ShapedType>(array.getType()).isDynamicDim(found);
        if (dim.loop != loop || isKnown ||
            (dim.kind != TiledDim::Loop && dim.kind != TiledDim::Mirrored))
          continue;
        array = value;
        found = number;
      }
    domain.push_back({builder.getIndexAttr(0),
                      sizeOf(builder, op->getLoc(), array, found),
                      builder.getIndexAttr(1)});
  }
  return domain;
}

FailureOr<TilingResult>
mlir::triton_ext::linalg_ext::getTiled(Operation *op, OpBuilder &builder,
                                       Tile tile) {
  TilingPlan plan = getTilingPlan(op);
  if (tile.offsets.size() != plan.loops.size())
    return failure();
  Location loc = op->getLoc();
  SmallVector<Operation *> slices;
  SmallVector<Value> operands(op->getOperands());
  auto isWhole = [](TiledDim dim) { return dim.kind == TiledDim::Whole; };
  for (auto [value, dims] : llvm::zip(operands, plan.operands))
    if (!llvm::all_of(dims, isWhole))
      value = takeSlice(builder, loc, value,
                        getSlice(builder, loc, value, dims, tile), slices);
  Operation *tiled;
  if (auto pad = dyn_cast<PadOp>(op)) {
    Value init = operands[pad.getInitMutable().getOperandNumber()];
    tiled = tilePad(builder, pad, tile, init, slices);
  } else {
    if (auto range = dyn_cast<MakeRangeOp>(op))
      moveRange(builder, range, tile, operands);
    else if (auto tri = dyn_cast<TriOp>(op))
      moveDiagonal(builder, tri, tile, operands);
    SmallVector<Type> types;
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      for (OpOperand &init : destination.getDpsInitsMutable())
        if (Type type = operands[init.getOperandNumber()].getType();
            isa<RankedTensorType>(type))
          types.push_back(type);
    tiled = clone(builder, op, types, operands);
  }
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

OpOperand &mlir::triton_ext::linalg_ext::getInitOf(Operation *op,
                                                   unsigned result) {
  for (OpOperand &init :
       cast<DestinationStyleOpInterface>(op).getDpsInitsMutable())
    if (isa<RankedTensorType>(init.get().getType()) && result-- == 0)
      return init;
  llvm_unreachable("every result has an init");
}

LogicalResult mlir::triton_ext::linalg_ext::getResultPosition(
    Operation *op, OpBuilder &builder, unsigned result, Tile tile,
    SmallVector<OpFoldResult> &offsets, SmallVector<OpFoldResult> &sizes) {
  OpOperand &init = getInitOf(op, result);
  SmallVector<TiledDim> dims =
      getTilingPlan(op).operands[init.getOperandNumber()];
  dims.resize(cast<ShapedType>(init.get().getType()).getRank());
  Slice slice = getSlice(builder, op->getLoc(), init.get(), dims, tile);
  offsets = slice.offsets;
  sizes = slice.sizes;
  return success();
}

LogicalResult mlir::triton_ext::linalg_ext::reifyResultShapes(
    Operation *op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    shapes.push_back(tensor::getMixedSizes(builder, op->getLoc(),
                                           getInitOf(op, result).get()));
  return success();
}
