// SPDX-License-Identifier: Apache-2.0
//
// Weighs the work that disappears with a condition against the cost of a
// further loop. benchmarks/results/gpu-loop-split-default.txt has the
// measurements behind it.

#include "CostModel.h"
#include "AccessWidth.h"
#include "Assumptions.h"
#include "Known.h"
#include "TileRegisters.h"
#include "TripCounter.h"
#include "Work.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::loop_split;

namespace {
/// A place at which the loop could be split, and the work that would disappear.
struct Place {
  Condition condition;
  Side side;
  /// Whether accesses become wider.
  bool widens = false;
  /// Whether selects of tensors, or branches, disappear.
  bool values = false;
  /// In how many iterations the condition is known, as far as constants tell;
  /// the largest number if that is decided at run time.
  uint64_t trips = UINT64_MAX;
};
} // namespace

/// Returns whether Triton pipelines the loop: if its attribute says so, else if
/// it has a matrix product. A loop inside of it has a pipeline of its own.
static bool isPipelined(scf::ForOp loop) {
  if (auto stages = loop->getAttrOfType<IntegerAttr>("tt.num_stages"))
    return stages.getInt() > 1;
  auto visit = [](Operation *op) {
    if (isa<LoopLikeOpInterface>(op))
      return WalkResult::skip();
    return isa<triton::DotOpInterface>(op) ? WalkResult::interrupt()
                                           : WalkResult::advance();
  };
  return loop.getBody()->walk<WalkOrder::PreOrder>(visit).wasInterrupted();
}

/// Returns the places at which the loop could be split, with what disappears.
static SmallVector<Place, 0> placesOf(scf::ForOp loop,
                                      ArrayRef<Condition> conditions) {
  AccessWidths widths(loop);
  SmallVector<Place, 0> places;
  for (const Condition &condition : conditions) {
    arith::CmpIOp op = condition.op;
    Place place{condition, condition.sideOf(true)};
    if (isDone(op, place.side) || !decidesAboutWork(op.getResult()))
      continue;
    forEachDecided(op.getResult(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (auto access = analysis::memoryAccessOf(user)) {
        place.widens |= widths.isNarrowedBy(*access, op.getResult());
        // A copy writes zeros where it is masked off. Any other value takes a
        // select.
        place.values |= access->other &&
                        !matchPattern(access->other, m_Zero()) &&
                        !matchPattern(access->other, m_AnyZeroFloat());
      } else {
        place.values |= !isa<arith::SelectOp>(user) ||
                        isa<ShapedType>(user->getResult(0).getType());
      }
      return true;
    });
    places.push_back(std::move(place));
  }
  return places;
}

/// Returns the counterpart of the condition in a copy of its loop. The copy is
/// not analysed for it: counting drops flags of operations that it hoists, and
/// what was proved with these could not be proved again.
static Condition inCopy(Condition condition, const IRMapping &mapping) {
  Value same = mapping.lookup(condition.op.getResult());
  condition.op = same.getDefiningOp<arith::CmpIOp>();
  for (AffineForm *form : {&condition.lhs, &condition.rhs})
    for (auto &[value, coefficient] : form->terms)
      value = mapping.lookupOrDefault(value);
  return condition;
}

/// Finds out in how many iterations the conditions are known. Erases places at
/// which a condition does not change, which take no further loop. Counts in a
/// copy of the loop, because counting hoists operations.
static void countTrips(RewriterBase &rewriter, scf::ForOp loop,
                       SmallVectorImpl<Place> &places, bool noWrap) {
  if (places.empty())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  IRMapping mapping;
  auto copy = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
  Operation *before = copy->getPrevNode();
  ConditionAnalysis analysis(copy, noWrap);
  llvm::erase_if(places, [&](Place &place) {
    Condition condition = inCopy(place.condition, mapping);
    TripCounter counter(rewriter, copy, analysis);
    Value count = counter.countUpTo(condition, place.side);
    place.trips = counter.mostKnown(count, place.side).value_or(UINT64_MAX);
    return counter.isAll(count) ||
           (counter.isZero(count) && !condition.isEquality());
  });
  while (loop->getPrevNode() != before)
    rewriter.eraseOp(loop->getPrevNode());
}

/// If one mask becomes true and another one false a known number of elements
/// later, as those of a window of constant size do, both are true for all lanes
/// in that many elements, less the lanes. Limits the numbers of iterations to
/// those that fit there wherever they begin.
static void limitTripsBetween(scf::ForOp loop, MutableArrayRef<Place> places) {
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return;
  auto wide = [](const APInt &number) { return number.sext(wideBits); };
  for (Place &begin : places)
    for (Place &end : places) {
      const Condition &a = begin.condition, &b = end.condition;
      if (!a.hasTail() || !b.hasTail() || a.leadingValue() ||
          !b.leadingValue() || !a.increasing || !b.increasing ||
          !a.slope.isOne() || !b.slope.isOne() || !a.lhs.hasTermsOf(b.lhs) ||
          !a.rhs.hasTermsOf(b.rhs))
        continue;
      // The values of the induction variable at which each of the masks
      // changes, without the terms that both have in common.
      APInt first = wide(a.rhs.constant) + a.rhs.spread.zext(wideBits) -
                    wide(a.lhs.constant);
      APInt last = wide(b.rhs.constant) - wide(b.lhs.constant) -
                   b.lhs.spread.zext(wideBits);
      APInt room = last - first;
      uint64_t trips = room.isNegative()
                           ? 0
                           : room.udiv(step.zext(wideBits)).getLimitedValue();
      begin.trips = std::min(begin.trips, trips);
      end.trips = std::min(end.trips, trips);
    }
}

/// Returns how many times the pipeline of the loop begins anew, if the loop is
/// split at those places where only values disappear.
static int64_t countRefills(ArrayRef<Place> places) {
  int64_t refills = 0;
  for (auto [i, place] : llvm::enumerate(places)) {
    if (!place.values || place.widens)
      continue;
    bool isNew = llvm::none_of(places.take_front(i), [&](const Place &other) {
      return other.values && other.side == place.side &&
             other.condition.changesWith(place.condition);
    });
    if (isNew)
      refills += place.condition.isEquality() ? 2 : 1;
  }
  return refills;
}

SmallVector<Decline, 0> mlir::triton_ext::loop_split::declineToSplit(
    RewriterBase &rewriter, scf::ForOp loop, ArrayRef<Condition> conditions,
    const CostLimits &limits) {
  if (!isPipelined(loop))
    return {};
  SmallVector<Place, 0> places = placesOf(loop, conditions);
  countTrips(rewriter, loop, places, limits.noWrap);
  limitTripsBetween(loop, places);
  int64_t refills = countRefills(places);
  int64_t registers = limits.threads ? tileRegisters(loop, limits.threads) : 0;

  SmallVector<std::string> reasons; // empty for a place that pays
  for (const Place &place : places) {
    std::string &reason = reasons.emplace_back();
    bool isFew = place.trips < limits.guardTrips;
    if (place.widens)
      continue;
    if (!place.values)
      reason = "its masks are predicates of accesses that are as wide as "
               "without them";
    else if (place.trips < limits.splitTrips)
      reason = ("another pipeline takes longer than what disappears from " +
                Twine(place.trips) + " iterations, less than " +
                (isFew ? "guard-trips=" : "split-trips=") +
                Twine(isFew ? limits.guardTrips : limits.splitTrips))
                   .str();
    else if (registers > limits.maxRegisters)
      reason = ("tiles take " + Twine(registers) +
                " registers of a thread, more than max-registers=" +
                Twine(limits.maxRegisters))
                   .str();
    else if (refills > limits.maxRefills)
      reason = ("the pipeline would begin anew " + Twine(refills) +
                " times, more than max-refills=" + Twine(limits.maxRefills))
                   .str();
  }

  SmallVector<Decline, 0> declined;
  for (auto [place, reason] : llvm::zip_equal(places, reasons)) {
    // If the loop is split for another reason anyway, this place costs nothing
    // more.
    bool isFree = false;
    for (auto [other, why] : llvm::zip_equal(places, reasons))
      isFree |= why.empty() && other.side == place.side &&
                other.condition.changesWith(place.condition);
    if (!isFree)
      declined.push_back({place.condition, reason,
                          place.values && place.trips >= limits.guardTrips});
  }
  return declined;
}
