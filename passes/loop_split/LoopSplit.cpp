// SPDX-License-Identifier: Apache-2.0
//
// Splits each `scf.for` where a comparison on its induction variable changes,
// if a branch, a select or a mask disappears by that. Loops whose comparisons
// Condition.cpp cannot handle, and everything outside of loops, are left
// untouched.

#include "Guard.h"
#include "Known.h"
#include "TripCounter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton_ext::loop_split {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOOPSPLITPASS
#include "LoopSplit.h.inc"
} // namespace mlir::triton_ext::loop_split

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using Kind = remark::RemarkKind;

/// On each loop that is done with.
static constexpr StringLiteral splitAttr = "triton_ext.split";
/// On comparisons that stay, while the pass runs: where it is of no use to
/// split the loop around them (again).
static constexpr StringLiteral doneAttrs[] = {"triton_ext.lead_done",
                                              "triton_ext.tail_done"};

/// Whether `user` would do less if this operand of it was a constant.
static bool doesLessFor(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto branch = dyn_cast<scf::IfOp>(user))
    return branch.getNumResults() != 0 ||
           !branch.thenBlock()->without_terminator().empty() ||
           (branch.elseBlock() &&
            !branch.elseBlock()->without_terminator().empty());
  if (auto select = dyn_cast<arith::SelectOp>(user))
    return use.getOperandNumber() == 0 && !select->use_empty() &&
           select.getTrueValue() != select.getFalseValue();
  auto isMask = [&](auto op) { return op && op.getMask() == use.get(); };
  return isMask(dyn_cast<triton::LoadOp>(user)) ||
         isMask(dyn_cast<triton::StoreOp>(user)) ||
         isMask(dyn_cast<triton::AtomicRMWOp>(user));
}

/// Whether the result of `user` may be a constant if this operand of it is.
static bool mayBeConstantFor(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<arith::XOrIOp>(user)) // as "not" is written
    return matchPattern(user->getOperand(1 - use.getOperandNumber()),
                        m_Constant());
  if (isa<arith::SelectOp>(user))
    return use.getOperandNumber() != 0;
  return isa<arith::AndIOp, arith::OrIOp, triton::SplatOp, triton::ExpandDimsOp,
             triton::BroadcastOp, triton::ReshapeOp, triton::TransOp>(user);
}

/// Whether something would be left out if this boolean, or tensor of them, was
/// a constant.
static bool decidesAboutWork(Value condition) {
  SetVector<Value> values;
  values.insert(condition);
  for (size_t next = 0; next < values.size(); ++next)
    for (OpOperand &use : values[next].getUses()) {
      if (doesLessFor(use))
        return true;
      if (mayBeConstantFor(use))
        values.insert(use.getOwner()->getResult(0));
    }
  return false;
}

/// Whether `decided` is computed from `condition`.
static bool decides(Value condition, Value decided) {
  SetVector<Value> values;
  values.insert(decided);
  for (size_t next = 0; next < values.size(); ++next) {
    if (values[next] == condition)
      return true;
    Operation *op = values[next].getDefiningOp();
    if (isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
      values.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Whether the operation is executed only where a condition on the induction
/// variable holds. Who wrote that has limited already where the mask is needed.
static bool isGuarded(arith::CmpIOp op, ArrayRef<Condition> conditions) {
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>())
    for (const Condition &condition : conditions) {
      arith::CmpIOp other = condition.op;
      if (!condition.hasTail() &&
          decides(other.getResult(), branch.getCondition()))
        return true;
    }
  return false;
}

static int64_t countOps(Operation *root) {
  int64_t count = 0;
  root->walk([&](Operation *) { ++count; });
  return count;
}

static StringRef text(bool value) { return value ? "true" : "false"; }

namespace {
/// One place to split a loop: all conditions that change there.
struct Candidate {
  SmallVector<Condition> conditions;
  Side side = Side::Lead;
};

struct LoopSplitPass
    : mlir::triton_ext::loop_split::impl::LoopSplitPassBase<LoopSplitPass> {
  using LoopSplitPassBase::LoopSplitPassBase;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  bool visit(scf::ForOp loop);
  SmallVector<Condition> conditionsIn(scf::ForOp loop);
  std::optional<Candidate> choose(ArrayRef<Condition> conditions);
  scf::ForOp splitAt(scf::ForOp loop, const Candidate &candidate,
                     bool &changed);
  bool guardIn(scf::ForOp loop);
  void simplify(scf::ForOp loop);
  void report(Operation *op, Kind kind, const Twine &message);

  std::shared_ptr<FrozenRewritePatternSet> patterns;
  SmallVector<std::pair<Location, std::string>> reported;
};
} // namespace

/// Puts a constant in the place of a comparison.
static void replace(arith::CmpIOp op, bool value) {
  OpBuilder b(op);
  TypedAttr attr = b.getBoolAttr(value);
  if (auto shaped = dyn_cast<ShapedType>(op.getType()))
    attr = DenseElementsAttr::get(shaped, value);
  Value constant = arith::ConstantOp::create(b, op.getLoc(), attr);
  op.replaceAllUsesWith(constant);
  op.erase();
}

static void markDone(arith::CmpIOp op, Side side) {
  op->setAttr(doneAttrs[side == Side::Tail], UnitAttr::get(op.getContext()));
}

static bool isDone(arith::CmpIOp op, Side side) {
  return op->hasAttr(doneAttrs[side == Side::Tail]);
}

/// Uses what is known of the condition before the place where it changes.
static void assumeBefore(const Condition &condition, arith::CmpIOp op,
                         Side side) {
  if (side == Side::Lead)
    replace(op, condition.leadingValue());
  else
    markDone(op, side);
}

/// Uses what is known of it from there on.
static void assumeAfter(const Condition &condition, arith::CmpIOp op,
                        Side side) {
  if (side == Side::Lead && !condition.exact)
    return markDone(op, side);
  if (!condition.isEquality())
    return replace(op, !condition.leadingValue());
  // It has changed where they are equal; beyond, it changes back.
  using Predicate = arith::CmpIPredicate;
  bool equal = condition.predicate == Predicate::eq;
  Predicate predicate = condition.increasing == equal
                            ? (equal ? Predicate::sle : Predicate::slt)
                            : (equal ? Predicate::sge : Predicate::sgt);
  if (condition.isUnsigned)
    predicate = toUnsigned(predicate);
  op.setPredicate(condition.swapped ? triton_ext::swapOperands(predicate)
                                    : predicate);
}

static StringRef textAfter(const Condition &condition, Side side) {
  if (side == Side::Lead && !condition.exact)
    return "any";
  return condition.isEquality() ? "an inequality"
                                : text(!condition.leadingValue());
}

LogicalResult LoopSplitPass::initialize(MLIRContext *context) {
  RewritePatternSet set(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(set);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(set, context);
  // It goes through values in the order of their addresses: the same module
  // would come out in different ways.
  std::string unordered =
      "(anonymous namespace)::MakeRegionBranchOpSuccessorInputsDead";
  patterns =
      std::make_shared<FrozenRewritePatternSet>(std::move(set), unordered);
  return success();
}

void LoopSplitPass::report(Operation *op, Kind kind, const Twine &message) {
  std::pair<Location, std::string> said(
      op->getLoc(),
      (kind == Kind::RemarkMissed ? "not split: " + message : message).str());
  if (llvm::is_contained(reported, said))
    return; // of a copy
  reported.push_back(said);
  StringRef function;
  if (auto parent = op->getParentOfType<FunctionOpInterface>())
    function = parent.getName();
  auto opts = remark::RemarkOpts::name("split")
                  .category(getArgument())
                  .function(function);
  auto emit = kind == Kind::RemarkPassed   ? remark::passed
              : kind == Kind::RemarkMissed ? remark::missed
                                           : remark::analysis;
  emit(op->getLoc(), opts) << remark::reason("{0}", said.second);
}

/// Whether `op` changes in a loop that is inside of `loop`: what there is to
/// say of it is said there.
static bool changesInside(scf::ForOp loop, Operation *op) {
  for (auto inner = op->getParentOfType<scf::ForOp>(); inner != loop;
       inner = inner->getParentOfType<scf::ForOp>())
    if (!ConditionAnalysis(inner).isInvariant(op->getResult(0)))
      return true;
  return false;
}

/// The conditions in program order.
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

/// The first place that is of use. True masks come before false ones.
std::optional<Candidate> LoopSplitPass::choose(ArrayRef<Condition> conditions) {
  for (bool wanted : {true, false}) {
    auto sideOf = [&](const Condition &condition) {
      return condition.hasTail() && condition.leadingValue() != wanted
                 ? Side::Tail
                 : Side::Lead;
    };
    // As by hand: where a mask becomes true comes before where it ceases to be.
    SmallVector<const Condition *> order;
    for (Side side : {Side::Tail, Side::Lead})
      for (const Condition &condition : conditions)
        if (side == (noWrap ? sideOf(condition) : Side::Lead))
          order.push_back(&condition);
    for (const Condition *condition : order) {
      arith::CmpIOp op = condition->op;
      if (!wanted && !(condition->hasTail() && falseMasks))
        continue;
      Candidate result;
      result.side = sideOf(*condition);
      if (isDone(op, result.side) || !decidesAboutWork(op.getResult()))
        continue;
      for (const Condition &other : conditions)
        if (!isDone(other.op, result.side) && other.changesWith(*condition))
          result.conditions.push_back(other);
      return result;
    }
  }
  return std::nullopt;
}

/// Returns the second of two loops, or null if one is enough.
scf::ForOp LoopSplitPass::splitAt(scf::ForOp loop, const Candidate &candidate,
                                  bool &changed) {
  ConditionAnalysis analysis(loop, noWrap);
  TripCounter counter(loop, analysis);
  const Condition &first = candidate.conditions.front();
  Side side = candidate.side;
  Value count = counter.countUpTo(first, side);
  auto isOne = [&] { return counter.isZero(count) || counter.isAll(count); };
  // Only with a mask, the other loop can do all iterations.
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
      (before ? assumeBefore : assumeAfter)(condition, condition.op, side);
    if (isKnown)
      simplify(loop);
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
           "split: in the first loop this is " +
               (side == Side::Lead ? text(condition.leadingValue()) : "any") +
               ", in the second " + textAfter(condition, side));
    arith::CmpIOp op = condition.op;
    auto copy = mapping.lookup(op.getResult()).getDefiningOp<arith::CmpIOp>();
    assumeBefore(condition, condition.op, side);
    assumeAfter(condition, copy, side);
  }
  simplify(loop);
  simplify(second);
  return second;
}

/// Puts masks that need not be looked at in most iterations into branches.
bool LoopSplitPass::guardIn(scf::ForOp loop) {
  SmallVector<Condition> open = conditionsIn(loop);
  llvm::erase_if(open, [](const Condition &condition) {
    return isDone(condition.op, Side::Lead);
  });
  SmallVector<arith::CmpIOp> settled = guardMasks(loop, open, noWrap);
  if (settled.empty())
    return false;
  for (arith::CmpIOp op : settled)
    for (Side side : {Side::Lead, Side::Tail})
      markDone(op, side);
  report(loop, Kind::RemarkPassed, "masks moved into a branch");
  simplify(loop);
  return true;
}

/// Folds what has become constant.
void LoopSplitPass::simplify(scf::ForOp loop) {
  SmallVector<Operation *> ops;
  loop.getRegion().walk([&](Operation *op) { ops.push_back(op); });
  GreedyRewriteConfig config;
  config.setScope(&loop.getRegion());
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  (void)applyOpPatternsGreedily(ops, *patterns, config);
}

/// Splits a loop as far as it is of use. Returns whether anything changed.
bool LoopSplitPass::visit(scf::ForOp loop) {
  APInt step;
  if (loop->hasAttr(splitAttr) ||
      bitWidth(loop.getInductionVar().getType()) == 0 ||
      (matchPattern(loop.getStep(), m_ConstantInt(&step)) &&
       (step.isZero() || (!loop.getUnsignedCmp() && step.isNegative()))))
    return false;

  SmallVector<Condition> conditions = conditionsIn(loop);
  for (const Condition &condition : conditions)
    if (condition.hasTail() && isGuarded(condition.op, conditions))
      for (Side side : {Side::Lead, Side::Tail})
        markDone(condition.op, side);

  SmallVector<scf::ForOp> loops{loop};
  int64_t added = 0;
  bool changed = guard && guardIn(loop), guarded = changed;
  while (true) {
    // The loop of which most is known already is likely to be the main one.
    scf::ForOp *best = nullptr;
    std::optional<Candidate> candidate;
    size_t fewest = 0;
    for (scf::ForOp &piece : loops) {
      conditions = conditionsIn(piece);
      if (best && conditions.size() >= fewest)
        continue;
      if (std::optional<Candidate> found = choose(conditions)) {
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
    int64_t size = countOps(*best);
    if (added + size > maxGrowth) {
      report(where, Kind::RemarkMissed,
             "it would add " + Twine(added + size) +
                 " operations, more than max-growth=" + Twine(maxGrowth));
      break;
    }
    if (scf::ForOp second = splitAt(*best, *candidate, changed)) {
      loops.insert(best + 1, second);
      added += size;
    }
  }

  for (scf::ForOp piece : loops) {
    piece.walk([](arith::CmpIOp op) {
      for (StringRef name : doneAttrs)
        op->removeAttr(name);
    });
    if (loops.size() > 1 || guarded)
      piece->setAttr(splitAttr, UnitAttr::get(&getContext()));
  }
  return changed;
}

void LoopSplitPass::runOnOperation() {
  reported.clear();
  // What becomes of one loop may concern those around it: until nothing does.
  auto visitAll = [&] {
    return getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      return visit(loop) ? WalkResult::interrupt() : WalkResult::advance();
    });
  };
  while (visitAll().wasInterrupted()) {
  }
  if (noWrap)
    getOperation()->walk([](Operation *op) { op->removeAttr(speculatedAttr); });
}
