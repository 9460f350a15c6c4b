// SPDX-License-Identifier: Apache-2.0
//
// Separates bounds from other masks of loads. A mask often says which memory
// can be read, so a load reads more than its mask allows only if another access
// does. Stores are left untouched: to write back what is there is a race with
// other programs.

#include "MixedMasks.h"

#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;
using Masks = llvm::SmallSetVector<Value, 4>;

/// Adds the masks of which `mask` is the conjunction.
static void collect(Value mask, Masks &masks) {
  auto conjunction = mask.getDefiningOp<arith::AndIOp>();
  if (!conjunction) {
    masks.insert(mask);
    return;
  }
  collect(conjunction.getLhs(), masks);
  collect(conjunction.getRhs(), masks);
}

/// Returns whether nothing between two operations of a block can keep the
/// second one from being executed.
static bool reaches(Operation *from, Operation *to) {
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode())
    if (!isa<tt::LoadOp, tt::StoreOp>(op) && !isPure(op))
      return false;
  return true;
}

/// Returns whether an access with at most these bounds is executed whenever the
/// load is.
static bool isAccessed(tt::LoadOp load, const Masks &bounds,
                       const DominanceInfo &dominance) {
  return llvm::any_of(load.getPtr().getUsers(), [&](Operation *user) {
    if (user == load || user->getOperand(0) != load.getPtr())
      return false;
    Value mask;
    if (auto other = dyn_cast<tt::LoadOp>(user))
      mask = other.getMask();
    else if (auto store = dyn_cast<tt::StoreOp>(user))
      mask = store.getMask();
    else
      return false;
    Masks masks;
    if (mask)
      collect(mask, masks);
    bool isWider =
        llvm::all_of(masks, [&](Value m) { return bounds.contains(m); });
    bool isBehind = user->getBlock() == load->getBlock() &&
                    load->isBeforeInBlock(user) && reaches(load, user);
    return isWider && (isBehind || dominance.properlyDominates(user, load));
  });
}

static Value conjunctionOf(ArrayRef<Value> masks, OpBuilder &builder,
                           Location loc) {
  Value result = masks.front();
  for (Value mask : masks.drop_front())
    result = arith::AndIOp::create(builder, loc, result, mask);
  return result;
}

static void separate(tt::LoadOp load, bool speculate,
                     const DominanceInfo &dominance) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || !load.getMask() || load.getIsVolatile())
    return;
  Masks masks, bounds, rest;
  collect(load.getMask(), masks);
  OpBuilder builder(load);
  Location loc = load.getLoc();
  analysis::IndexMath math{builder, loc};
  // A gather has no box.
  if (masks.size() < 2 || !analysis::trackPointers(load.getPtr(), math))
    return;
  for (Value mask : masks)
    (analysis::trackMask(mask, math) ? bounds : rest).insert(mask);
  if (bounds.empty() || rest.empty() ||
      !(speculate || isAccessed(load, bounds, dominance)))
    return;
  Value other = load.getOther();
  if (!other)
    other = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  auto box = cast<tt::LoadOp>(builder.clone(*load));
  box.getMaskMutable().assign(
      conjunctionOf(bounds.getArrayRef(), builder, loc));
  box->moveBefore(load);
  Value kept = conjunctionOf(rest.getArrayRef(), builder, loc);
  load.replaceAllUsesWith(
      arith::SelectOp::create(builder, loc, kept, box.getResult(), other)
          .getResult());
  load.erase();
}

void canonicalize_triton::separateMasks(Operation *top, bool speculate) {
  SmallVector<tt::LoadOp> loads;
  top->walk([&](tt::LoadOp load) { loads.push_back(load); });
  DominanceInfo dominance(top);
  for (tt::LoadOp load : loads)
    separate(load, speculate, dominance);
}
