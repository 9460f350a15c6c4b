// SPDX-License-Identifier: Apache-2.0
//
// Splits each `scf.for` where a comparison of its induction variable changes,
// if a branch, a select or a mask disappears by that. Loops whose comparisons
// Condition.cpp cannot handle, and everything outside of loops, are left
// untouched.

#include "Assumptions.h"
#include "Candidate.h"
#include "CostModel.h"
#include "Guard.h"
#include "Known.h"
#include "Remarks.h"
#include "Simplify.h"
#include "TripCounter.h"
#include "Work.h"
#include "Worklist.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-ext-loop-split"

namespace mlir::triton_ext::loop_split {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOOPSPLITPASS
#include "LoopSplit.h.inc"
} // namespace mlir::triton_ext::loop_split

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using Kind = remark::RemarkKind;

/// Marks loops that are not to be split again.
static constexpr StringLiteral splitAttr = "triton_ext.split";

namespace {
struct LoopSplitPass
    : mlir::triton_ext::loop_split::impl::LoopSplitPassBase<LoopSplitPass> {
  using LoopSplitPassBase::LoopSplitPassBase;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  SmallVector<scf::ForOp> visit(scf::ForOp loop, RewriterBase &rewriter);
  SmallVector<Condition> conditionsIn(scf::ForOp loop);
  scf::ForOp splitAt(scf::ForOp loop, const Candidate &candidate,
                     RewriterBase &rewriter, bool &changed);
  bool guardIn(scf::ForOp loop, RewriterBase &rewriter);
  bool declineIn(scf::ForOp loop, RewriterBase &rewriter);
  bool guardFor(scf::ForOp loop, ArrayRef<Condition> conditions,
                StringRef reason, RewriterBase &rewriter);
  void report(Operation *op, Kind kind, const Twine &message) {
    remarks->report(op, kind, message);
  }

  FrozenRewritePatternSet simplifications;
  std::optional<Remarks> remarks; // of one run
};
} // namespace

LogicalResult LoopSplitPass::initialize(MLIRContext *context) {
  simplifications = getSimplifications(context);
  return success();
}

/// Returns whether `op` changes in a loop inside of `loop`. The visit of that
/// loop reports what there is to say about it.
static bool changesInside(scf::ForOp loop, Operation *op) {
  for (auto inner = op->getParentOfType<scf::ForOp>(); inner != loop;
       inner = inner->getParentOfType<scf::ForOp>())
    if (!ConditionAnalysis(inner).isInvariant(op->getResult(0)))
      return true;
  return false;
}

/// Returns the conditions in program order. Reports why other comparisons that
/// depend on the induction variable are not among them.
SmallVector<Condition> LoopSplitPass::conditionsIn(scf::ForOp loop) {
  SmallVector<Condition> conditions;
  ConditionAnalysis analysis(loop, noWrap);
  loop.getRegion().walk([&](arith::CmpIOp op) {
    StringRef reason;
    if (std::optional<Condition> condition = analysis.get(op, reason))
      conditions.push_back(std::move(*condition));
    else if (reason.empty() || isDone(op, Side::Lead) ||
             isDone(op, Side::Tail) || changesInside(loop, op))
      return;
    else if (decidesAboutWork(op.getResult()))
      report(op, Kind::RemarkMissed, reason);
    else
      report(op, Kind::RemarkAnalysis,
             reason + "; no branch, select or mask depends on it");
  });
  return conditions;
}

/// Returns the second of two loops, or null if `loop` stays one.
scf::ForOp LoopSplitPass::splitAt(scf::ForOp loop, const Candidate &candidate,
                                  RewriterBase &rewriter, bool &changed) {
  ConditionAnalysis analysis(loop, noWrap);
  TripCounter counter(rewriter, loop, analysis);
  const Condition &first = candidate.conditions.front();
  Side side = candidate.side;
  Value count = counter.countUpTo(first, side);
  auto isOne = [&] { return counter.isZero(count) || counter.isAll(count); };
  // Only a loop with the mask can do the iterations of both loops.
  if (minTrips > 1 && first.hasTail() && !isOne()) {
    count = counter.orNone(count, side, minTrips);
    if (isOne()) {
      report(first.op, Kind::RemarkMissed,
             "it would be known in less than min-trips=" + Twine(minTrips) +
                 " iterations");
      for (const Condition &condition : candidate.conditions)
        markDone(condition.op, side);
      return nullptr;
    }
  }
  if (isOne()) {
    bool before = !counter.isZero(count);
    bool isKnown =
        before ? side == Side::Lead : side == Side::Tail || first.exact;
    if (!isKnown)
      report(first.op, Kind::RemarkMissed,
             before ? "it is never the same for all elements"
                    : "it may wrap, and changes in the first iteration");
    for (const Condition &condition : candidate.conditions)
      (before ? assumeBefore : assumeAfter)(condition, condition.op, side,
                                            rewriter);
    if (isKnown)
      simplify(loop, simplifications, rewriter);
    changed |= isKnown;
    return nullptr;
  }

  changed = true;
  IRMapping mapping;
  bool secondDoesAll = side == Side::Lead && !first.exact;
  Value place = minTrips > 1 ? Value() : counter.placeWithoutWrap(first, side);
  scf::ForOp second = counter.split(count, place, secondDoesAll, mapping);
  for (const Condition &condition : candidate.conditions) {
    report(condition.op, Kind::RemarkPassed,
           "split: in the first loop this is " + textBefore(condition, side) +
               ", in the second " + textAfter(condition, side));
    arith::CmpIOp op = condition.op;
    auto copy = mapping.lookup(op.getResult()).getDefiningOp<arith::CmpIOp>();
    assumeBefore(condition, op, side, rewriter);
    assumeAfter(condition, copy, side, rewriter);
  }
  simplify(loop, simplifications, rewriter);
  simplify(second, simplifications, rewriter);
  return second;
}

/// Puts masks that are true in most iterations into branches.
bool LoopSplitPass::guardFor(scf::ForOp loop, ArrayRef<Condition> conditions,
                             StringRef reason, RewriterBase &rewriter) {
  SmallVector<arith::CmpIOp> settled =
      guardMasks(rewriter, loop, conditions, noWrap);
  for (arith::CmpIOp op : settled)
    markDone(op);
  if (!settled.empty())
    report(loop, Kind::RemarkPassed, "masks moved into a branch" + reason);
  return !settled.empty();
}

bool LoopSplitPass::guardIn(scf::ForOp loop, RewriterBase &rewriter) {
  SmallVector<Condition> open = conditionsIn(loop);
  llvm::erase_if(open, [](const Condition &condition) {
    return isDone(condition.op, Side::Lead);
  });
  return guardFor(loop, open, "", rewriter);
}

/// Asks the cost model for which conditions `loop` is not to be split, and puts
/// the masks of these into branches where it can. Returns whether it did.
bool LoopSplitPass::declineIn(scf::ForOp loop, RewriterBase &rewriter) {
  if (threadsPerWarp == 1) // a CPU, which has no such pipeline
    return false;
  CostLimits limits{int64_t(numWarps) * threadsPerWarp,
                    maxRegisters,
                    maxRefills,
                    splitTrips,
                    guardTrips,
                    noWrap};
  SmallVector<Decline, 0> declined =
      declineToSplit(rewriter, loop, conditionsIn(loop), limits);
  SmallVector<Condition> masks;
  std::string reason;
  for (const Decline &one : declined)
    if (one.mayGuard) {
      masks.push_back(one.condition);
      reason = ", because " + one.reason;
    }
  bool guarded = guardFor(loop, masks, reason, rewriter);
  for (const Decline &one : declined) {
    arith::CmpIOp op = one.condition.op;
    if (decidesAboutWork(op.getResult()))
      report(op, Kind::RemarkMissed, one.reason);
    markDone(op);
  }
  return guarded;
}

/// Splits a loop as far as it is of use. Returns the loops that it is now, or
/// nothing if nothing changed.
SmallVector<scf::ForOp> LoopSplitPass::visit(scf::ForOp loop,
                                             RewriterBase &rewriter) {
  APInt step;
  if (loop->hasAttr(splitAttr) ||
      bitWidth(loop.getInductionVar().getType()) == 0 ||
      (matchPattern(loop.getStep(), m_ConstantInt(&step)) &&
       (step.isZero() || (!loop.getUnsignedCmp() && step.isNegative()))))
    return {};
  LDBG() << "visit the loop at " << loop.getLoc();

  SmallVector<Condition> conditions = conditionsIn(loop);
  for (const Condition &condition : conditions)
    if (condition.hasTail() && isGuarded(condition.op, conditions))
      markDone(condition.op);

  SmallVector<scf::ForOp> loops{loop};
  int64_t added = 0;
  bool guarded = guard && guardIn(loop, rewriter);
  guarded |= costModel && declineIn(loop, rewriter);
  if (guarded)
    simplify(loop, simplifications, rewriter);
  bool changed = guarded;
  while (true) {
    // The main loop is likely to be the one in which most is known already.
    scf::ForOp *best = nullptr;
    std::optional<Candidate> candidate;
    size_t fewest = 0;
    for (scf::ForOp &piece : loops) {
      conditions = conditionsIn(piece);
      if (best && conditions.size() >= fewest)
        continue;
      if (std::optional<Candidate> found =
              choose(conditions, noWrap, falseMasks)) {
        candidate = std::move(found);
        best = &piece;
        fewest = conditions.size();
      }
    }
    if (!candidate)
      break;
    Operation *where = candidate->conditions.front().op;
    if (loops.size() > maxSplits) {
      report(where, Kind::RemarkMissed,
             "max-splits=" + Twine(maxSplits) + " is reached");
      break;
    }
    int64_t size = 0;
    best->walk([&](Operation *) { ++size; });
    if (added + size > maxGrowth) {
      report(where, Kind::RemarkMissed,
             "it would add " + Twine(added + size) +
                 " operations, more than max-growth=" + Twine(maxGrowth));
      break;
    }
    if (scf::ForOp second = splitAt(*best, *candidate, rewriter, changed)) {
      loops.insert(best + 1, second);
      added += size;
    }
  }

  for (scf::ForOp piece : loops) {
    piece.walk(unmark);
    if (loops.size() > 1 || guarded)
      piece->setAttr(splitAttr, UnitAttr::get(&getContext()));
  }
  return changed ? loops : SmallVector<scf::ForOp>();
}

void LoopSplitPass::runOnOperation() {
  remarks.emplace(getArgument());
  Worklist worklist;
  IRRewriter rewriter(&getContext(), &worklist);
  auto push = [&](scf::ForOp loop) { worklist.push(loop); };
  getOperation()->walk<WalkOrder::PreOrder>(push);
  while (scf::ForOp loop = worklist.pop()) {
    SmallVector<scf::ForOp> pieces = visit(loop, rewriter);
    if (pieces.empty())
      continue;
    // A change concerns the loops around it, which it may have made simpler,
    // and those inside of the copies, which are new. Loops beside it see only
    // its results, which no analysis looks into.
    SmallVector<scf::ForOp> around;
    for (auto outer = loop->getParentOfType<scf::ForOp>(); outer;
         outer = outer->getParentOfType<scf::ForOp>())
      around.push_back(outer);
    llvm::for_each(llvm::reverse(around), push);
    for (scf::ForOp piece : pieces)
      piece->walk<WalkOrder::PreOrder>(push);
  }
  if (noWrap)
    getOperation()->walk([](Operation *op) { op->removeAttr(speculatedAttr); });
}
