// SPDX-License-Identifier: Apache-2.0
//
// Scalars that stand for loop-carried tensors: each loop gets an i64 for each
// tensor that only moves.

#include "Strided.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// Whether all elements are the same, and the tracker finds out which. The
/// cases are those of computeOp().
static bool isUniform(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return false;
  DenseIntElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat();
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tt::SplatOp>(op))
    return true;
  return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                         tt::ExpandDimsOp, tt::BroadcastOp>(op) &&
         llvm::all_of(op->getOperands(), isUniform);
}

/// Whether `value` is `start` plus the same number in each element.
static bool isMoved(Value value, Value start) {
  while (value != start) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<tt::AddPtrOp, arith::AddIOp, arith::SubIOp>(op))
      return false;
    if (isUniform(op->getOperand(1)))
      value = op->getOperand(0);
    else if (isa<arith::AddIOp>(op) && isUniform(op->getOperand(0)))
      value = op->getOperand(1);
    else
      return false;
  }
  return true;
}

StridedTracker::StridedTracker(tt::FuncOp kernel, bool movesLoops)
    : function(kernel) {
  SmallVector<scf::ForOp> loops;
  if (movesLoops)
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForOp loop : loops) {
    SmallVector<unsigned> moved;
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      unsigned width = widthOf(argument.getType());
      if (isa<RankedTensorType>(argument.getType()) && width >= 32 &&
          width <= 64 && isMoved(loop.getYieldedValues()[i], argument))
        moved.push_back(i);
    }
    if (moved.empty())
      continue;
    rewriter.setInsertionPoint(loop);
    Value zero = arith::ConstantOp::create(rewriter, loop.getLoc(),
                                           rewriter.getI64IntegerAttr(0));
    unsigned count = loop.getNumRegionIterArgs();
    // What is carried comes later, see computeArgument() and finish().
    auto replaced = loop.replaceWithAdditionalYields(
        rewriter, SmallVector<Value>(moved.size(), zero),
        /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
          return SmallVector<Value>(added.begin(), added.end());
        });
    if (failed(replaced))
      continue;
    auto next = cast<scf::ForOp>(replaced->getOperation());
    for (auto [i, index] : llvm::enumerate(moved)) {
      Carried one{next, index, unsigned(count + i)};
      carried[next.getRegionIterArg(index)] = one;
      carried[next.getResult(index)] = one;
    }
  }
}

std::optional<Strided> StridedTracker::computeArgument(BlockArgument argument) {
  auto found = carried.find(argument);
  if (found == carried.end())
    return std::nullopt;
  Carried one = found->second;
  Value init = one.loop.getInitArgs()[one.index];
  std::optional<Strided> strided = track(init);
  if (!strided)
    return std::nullopt;
  OpBuilder b = places.behind(init);
  IndexMath math = mathBehind(b, init.getLoc());
  one.loop.getInitArgsMutable()[one.companion].set(math.toValue(strided->base));
  strided->base = one.loop.getRegionIterArg(one.companion);
  // An integer may wrap around in some iteration.
  if (!isa<tt::PointerType>(getElementTypeOrSelf(argument.getType())))
    strided->isExact = widthOf(argument.getType()) == 64;
  used.push_back(one);
  return strided;
}

void StridedTracker::finish() {
  for (unsigned i = 0; i < used.size(); ++i) { // tracking may add some
    Carried one = used[i];
    auto yield = cast<scf::YieldOp>(one.loop.getBody()->getTerminator());
    Value last = yield.getOperand(one.index);
    std::optional<Strided> strided = track(last);
    assert(strided && "what isMoved() accepts is tracked");
    OpBuilder b = places.behind(last);
    IndexMath math = mathBehind(b, last.getLoc());
    yield.setOperand(one.companion, math.toValue(strided->base));
  }
}

std::optional<StridedTracker::Moved> StridedTracker::movedFrom(Value value) {
  auto found = carried.find(value);
  if (found == carried.end())
    return std::nullopt;
  std::optional<Strided> now = track(value);
  if (!now)
    return std::nullopt;
  Value init = found->second.loop.getInitArgs()[found->second.index];
  return Moved{init, track(init)->base, now->base};
}
