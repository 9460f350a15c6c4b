// SPDX-License-Identifier: Apache-2.0
//
// What disappears with a condition, and what a further loop costs. The numbers
// behind it are those of benchmarks/results/gpu-loop-split.txt.

#include "CostModel.h"
#include "AccessWidth.h"
#include "Assumptions.h"
#include "TileRegisters.h"
#include "TripCounter.h"
#include "Work.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::loop_split;

namespace {
/// What disappears if a condition is known.
struct Gain {
  /// Accesses become wider.
  bool widens = false;
  /// Selects of tensors, or branches.
  bool values = false;
};

/// A place that takes a further loop.
struct Place {
  const Condition *condition;
  Side side;
  Gain gain;
};
} // namespace

/// Returns whether Triton pipelines the loop: if its attribute says so, else if
/// it has a matrix product. A loop inside of it has a pipeline of its own.
static bool isPipelined(scf::ForOp loop) {
  if (auto stages = loop->getAttrOfType<IntegerAttr>("tt.num_stages"))
    return stages.getInt() > 1;
  return loop.getBody()
      ->walk<WalkOrder::PreOrder>([](Operation *op) {
        if (isa<LoopLikeOpInterface>(op))
          return WalkResult::skip();
        return isa<triton::DotOpInterface>(op) ? WalkResult::interrupt()
                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

static Gain gainFrom(Value condition, AccessWidths &widths) {
  Gain gain;
  forEachDecided(condition, [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto access = analysis::memoryAccessOf(op)) {
      gain.widens |= widths.isNarrowedBy(*access, condition);
      // A copy writes zeros where it is masked off; any other value takes a
      // select.
      gain.values |= access->other && !matchPattern(access->other, m_Zero()) &&
                     !matchPattern(access->other, m_AnyZeroFloat());
    } else {
      gain.values |= !isa<arith::SelectOp>(op) ||
                     isa<ShapedType>(op->getResult(0).getType());
    }
    return true;
  });
  return gain;
}

/// Erases the places at which a condition does not change: they take no further
/// loop. Counts in a copy of the loop, because counting hoists operations.
static void eraseKnown(RewriterBase &rewriter, scf::ForOp loop,
                       SmallVectorImpl<Place> &places, bool noWrap) {
  if (places.empty())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  IRMapping mapping;
  auto copy = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
  Operation *before = copy->getPrevNode();
  {
    ConditionAnalysis analysis(copy, noWrap);
    llvm::erase_if(places, [&](const Place &place) {
      arith::CmpIOp op = place.condition->op;
      StringRef reason;
      std::optional<Condition> condition = analysis.get(
          mapping.lookup(op.getResult()).getDefiningOp<arith::CmpIOp>(),
          reason);
      TripCounter counter(rewriter, copy, analysis);
      Value count = counter.countUpTo(*condition, place.side);
      return counter.isAll(count) ||
             (counter.isZero(count) && !condition->isEquality());
    });
  }
  while (loop->getPrevNode() != before)
    rewriter.eraseOp(loop->getPrevNode());
}

SmallVector<Decline, 0> mlir::triton_ext::loop_split::declineToSplit(
    RewriterBase &rewriter, scf::ForOp loop, ArrayRef<Condition> conditions,
    const CostLimits &limits) {
  if (!limits.isGPU || !isPipelined(loop))
    return {};
  AccessWidths widths(loop->getParentOfType<ModuleOp>());
  SmallVector<Place> places;
  int64_t further = 0; // loops, for the places where only values disappear
  for (const Condition &condition : conditions) {
    arith::CmpIOp op = condition.op;
    Side side = condition.sideOf(true);
    if (isDone(op, side) || !decidesAboutWork(op.getResult()))
      continue;
    places.push_back({&condition, side, gainFrom(op.getResult(), widths)});
  }
  // The facts in `widths` are not used any more: this emits operations.
  eraseKnown(rewriter, loop, places, limits.noWrap);
  for (auto [i, place] : llvm::enumerate(places)) {
    bool isNew =
        llvm::none_of(ArrayRef(places).take_front(i), [&](const Place &other) {
          return other.side == place.side && other.gain.values &&
                 other.condition->changesWith(*place.condition);
        });
    if (place.gain.values && !place.gain.widens && isNew)
      further += place.condition->isEquality() ? 2 : 1;
  }
  int64_t registers = limits.threads ? tileRegisters(loop, limits.threads) : 0;

  SmallVector<Decline, 0> declined;
  for (const Place &place : places) {
    std::string reason;
    if (place.gain.widens)
      continue;
    if (!place.gain.values)
      reason = "its masks cost only predicates: no access is wider without it";
    else if (registers > limits.maxRegisters)
      reason = ("tiles take " + Twine(registers) +
                " registers of a thread, more than max-registers=" +
                Twine(limits.maxRegisters))
                   .str();
    else if (further > 1)
      reason = "the pipeline of the loop would begin anew " +
               Twine(further).str() + " times";
    else
      continue;
    declined.push_back({*place.condition, reason, place.gain.values});
  }
  return declined;
}
