// SPDX-License-Identifier: Apache-2.0
//
// Replaces masks that are data, if they are true in a box: a select becomes a
// copy of the box, and the mask itself a fill of the box. Masks of accesses are
// not data: views have replaced them before.

#include "Access.h"
#include "Builders.h"
#include "Conversion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// Returns whether the operation that defines a mask may make a box. A splat is
/// left alone, because it becomes a fill anyway.
static bool mayBeBox(Value mask) {
  return isa_and_nonnull<arith::CmpIOp, arith::AndIOp, tt::BroadcastOp,
                         tt::ExpandDimsOp, tt::TransOp, tt::ReshapeOp>(
      mask.getDefiningOp());
}

static bool isMask(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.getElementType().isInteger(1);
}

/// Returns the box in which the mask is true; nullopt if there is none, or if
/// it is everything or nothing, which a fill of the whole tensor says better.
static std::optional<Box> trackBox(Access &access, Value mask) {
  std::optional<Box> box = analysis::trackMask(mask, access.math);
  if (!box || isWhole(*box, access.shape) || isNothing(*box, access.shape))
    return std::nullopt;
  return box;
}

static SmallVector<OpFoldResult> sizesOf(Access &access, const Box &box) {
  SmallVector<OpFoldResult> sizes;
  for (auto [low, high] : llvm::zip_equal(box.low, box.high))
    sizes.push_back(access.math.sub(high, low));
  return sizes;
}

/// Returns the tensor `into` with `part` in the box.
static Value insert(Access &access, Value part, Value into, const Box &box,
                    ArrayRef<OpFoldResult> sizes) {
  return tensor::InsertSliceOp::create(
      access.builder, access.loc, part, into, box.low, sizes,
      SmallVector<OpFoldResult>(sizes.size(), access.math.number(1)));
}

/// select mask, a, b -> b with the box of a
static void copyBox(arith::SelectOp op, OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || isa<tt::PointerType>(type.getElementType()) ||
      !isMask(op.getCondition()) || !mayBeBox(op.getCondition()))
    return;
  builder.setInsertionPoint(op);
  Access access(builder, op.getLoc(), type);
  std::optional<Box> box = trackBox(access, op.getCondition());
  if (!box)
    return;
  SmallVector<OpFoldResult> sizes = sizesOf(access, *box);
  Value part = access.slice(op.getTrueValue(), *box, sizes);
  // Stock MLIR turns an insertion of several lines alone into a call that
  // copies element by element, and linalg.copy into loops.
  if (sizes.size() > 1)
    part = linalg::CopyOp::create(builder, op.getLoc(), part,
                                  access.slice(op.getFalseValue(), *box, sizes))
               ->getResult(0);
  op.replaceAllUsesWith(insert(access, part, op.getFalseValue(), *box, sizes));
  op.erase();
}

/// Returns whether the user of a mask needs its elements, not only the box.
static bool needsElements(Operation *user) {
  return user->getNumResults() != 1 || !isMask(user->getResult(0)) ||
         !mayBeBox(user->getResult(0));
}

/// mask -> false, with true in the box
static void fillBox(Value mask, OpBuilder &builder) {
  Location loc = mask.getLoc();
  builder.setInsertionPointAfterValue(mask);
  Access access(builder, loc, mask.getType());
  std::optional<Box> box = trackBox(access, mask);
  if (!box)
    return;
  Value no =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  Value yes =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  SmallVector<OpFoldResult> sizes = sizesOf(access, *box);
  Value around = fill(builder, loc, cast<RankedTensorType>(mask.getType()), no);
  Value part = access.slice(around, *box, sizes);
  part = linalg::FillOp::create(builder, loc, yes, part).getResult(0);
  Value filled = insert(access, part, around, *box, sizes);
  mask.replaceUsesWithIf(
      filled, [](OpOperand &use) { return needsElements(use.getOwner()); });
}

void mlir::triton_ext::convert_triton_to_linalg::useBoxes(Operation *top) {
  SmallVector<arith::SelectOp> selects;
  top->walk([&](arith::SelectOp op) { selects.push_back(op); });
  OpBuilder builder(top->getContext());
  for (arith::SelectOp op : selects)
    copyBox(op, builder);
  SmallVector<Value> masks;
  top->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isMask(result) && mayBeBox(result) &&
          llvm::any_of(result.getUsers(), needsElements))
        masks.push_back(result);
  });
  for (Value mask : masks)
    fillBox(mask, builder);
}
