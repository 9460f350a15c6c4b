// SPDX-License-Identifier: Apache-2.0
//
// Reports lanes of a load that its mask turns off, that have no `other`, and
// that have an effect. A lane without an effect is not reported, for example if
// the mask of the store turns it off as well.

#include "Checks.h"
#include "Flow.h"
#include "LoopSlice.h"
#include "OffLanes.h"
#include "Roots.h"
#include "Taint.h"

#include "analysis/Dimensions.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

namespace {
/// A sink that lanes of one load may reach.
struct Target {
  Operation *op;
  StringRef kind;
  SmallVector<unsigned, 2> operands;
  bool isMasked;     ///< whether it has a mask
  bool hasSameLanes; ///< whether its lanes are those of the load
  Operation *mixed;  ///< what mixed lanes on the way; null if nothing did
};

/// The check of one load.
class LanesOfLoad {
public:
  LanesOfLoad(Checker &checker, Operation *load, Value mask)
      : checker(checker), load(load), mask(mask) {}

  void run();

private:
  void addTargets(const Flow &flow, ArrayRef<const Flow::Reach *> reached);
  void checkTarget(Taint &taint, const Target &target);

  Checker &checker;
  Operation *load;
  Value mask;
  SmallVector<Target> targets;
};
} // namespace

static bool isIdentity(ArrayRef<int> dims, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> other) {
  if (shape != other)
    return false;
  for (auto [d, from] : llvm::enumerate(dims))
    if (shape[d] != 1 && from != int(d))
      return false;
  return true;
}

void LanesOfLoad::addTargets(const Flow &flow,
                             ArrayRef<const Flow::Reach *> reached) {
  ArrayRef<int64_t> shape = analysis::shapeOf(load->getResult(0));
  for (const Flow::Reach *reach : reached) {
    Operation *op = reach->use->getOwner();
    const Flow::Step &step = flow.step(reach->step);
    auto known =
        llvm::find_if(targets, [&](const Target &t) { return t.op == op; });
    bool isSame = isIdentity(step.dims, analysis::shapeOf(step.value), shape);
    if (known == targets.end()) {
      targets.push_back(
          {op, reach->sink.kind, {}, bool(reach->sink.mask), isSame, nullptr});
      known = std::prev(targets.end());
    }
    known->hasSameLanes &= isSame;
    if (!known->mixed)
      known->mixed = step.mixed;
    unsigned number = reach->use->getOperandNumber();
    if (!llvm::is_contained(known->operands, number))
      known->operands.push_back(number);
  }
}

/// Whether the values of `op`, computed before, are those of the same
/// iteration at `later`.
static bool isBefore(Operation *op, Operation *later) {
  Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*later);
  return ancestor && op->isBeforeInBlock(ancestor);
}

static void describe(llvm::json::Object &note, StringRef name, Operation *op) {
  if (auto at = positionOf(op->getLoc())) {
    note[(name + "_file").str()] = at.getFilename().strref();
    note[(name + "_line").str()] = int64_t(at.getLine());
    note[(name + "_column").str()] = int64_t(at.getColumn());
  }
}

/// Returns whether a value is computed from memory.
static bool isLoaded(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    Value one = values[i];
    auto loop = dyn_cast<scf::ForOp>(one.getParentBlock()->getParentOp());
    if (auto argument = dyn_cast<BlockArgument>(one)) {
      if (loop && argument != loop.getInductionVar())
        values.insert(loop.getTiedLoopResult(argument));
      continue;
    }
    auto result = cast<OpResult>(one);
    unsigned number = result.getResultNumber();
    Operation *op = result.getOwner();
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      values.insert(inner.getInitArgs()[number]);
      values.insert(inner.getYieldedValues()[number]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      values.insert(branch.thenYield().getOperand(number));
      values.insert(branch.elseYield().getOperand(number));
    } else if (!isRepeatable(op)) {
      return true;
    } else {
      values.insert_range(op->getOperands());
    }
  }
  return false;
}

/// Returns a tensor as the builder's block can compute it from scalars; the
/// tensor itself if it needs memory or what a loop carries.
static Value computeAgain(Value value, OpBuilder &b, IRMapping &copies) {
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || copies.contains(value) ||
      !op || op->getNumRegions() || !isRepeatable(op))
    return copies.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    copies.map(operand, computeAgain(operand, b, copies));
  b.clone(*op, copies);
  return copies.lookup(value);
}

/// Has a branch keep no tensor that it can compute again, so that it can leave
/// loops.
static void keepScalars(scf::IfOp branch) {
  IRMapping copies;
  OpBuilder b = branch.getThenBodyBuilder();
  SmallVector<OpOperand *> used;
  branch.getThenRegion().walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!branch.getThenRegion().isAncestor(operand.get().getParentRegion()))
        used.push_back(&operand);
  });
  b.setInsertionPointToStart(branch.thenBlock());
  for (OpOperand *operand : used)
    operand->set(computeAgain(operand->get(), b, copies));
}

void LanesOfLoad::checkTarget(Taint &taint, const Target &target) {
  Operation *sink = target.op;
  Value sinkMask;
  if (auto access = analysis::memoryAccessOf(sink))
    sinkMask = access->mask;
  // Loops are entered, and branches taken, by values that are known before.
  ImplicitLocOpBuilder b = checker.before(sink);
  SmallVector<Value> gated, always;
  ArrayRef<int64_t> shape;
  for (unsigned number : target.operands) {
    Value value = sink->getOperand(number);
    Value bits = taint.of(value);
    // Lanes that the load's mask turns off are often off in the sink, too: by
    // the same mask.
    if (!bits || (value != sinkMask && isNotOf(bits, sinkMask)))
      continue;
    (value == sinkMask ? always : gated).push_back(bits);
    if (analysis::shapeOf(value).size() > shape.size())
      shape = analysis::shapeOf(value);
  }
  if (gated.empty() && always.empty())
    return;
  // Without proofs, most conditions are false in every program, so they are
  // compared by corners.
  bool hasCorners =
      !checker.isStatic && checker.hasCorners && checker.action != Action::Trap;
  Value any;
  for (auto [i, bits] : llvm::enumerate(llvm::concat<Value>(gated, always))) {
    Value mask = i < gated.size() ? sinkMask : Value();
    Value one = hasCorners ? mayHaveTrue(b, bits, mask, checker.kernel)
                           : anyOf(b, bits);
    any = any ? Value(arith::OrIOp::create(b, any, one)) : one;
  }
  auto branch = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenYield());
  auto all = [&](ArrayRef<Value> parts) {
    Value result;
    for (Value bits : parts) {
      Value full = broadcastTo(b, bits, shape);
      result = result ? Value(arith::OrIOp::create(b, result, full)) : full;
    }
    return result;
  };
  Value bad = all(gated), badMask = all(always);
  if (bad && sinkMask)
    bad = arith::AndIOp::create(b, bad, broadcastTo(b, sinkMask, shape));
  if (badMask)
    bad = bad ? Value(arith::OrIOp::create(b, bad, badMask)) : badMask;
  Finding finding{"lanes", load, notOf(b, bad), {}, {}, {}, {}};
  auto access = analysis::memoryAccessOf(load);
  if (access && access->pointer && target.hasSameLanes &&
      isBefore(load, sink) &&
      (checker.tellsLoadedAddresses || !isLoaded(access->pointer))) {
    Type wide = b.getI64Type();
    if (auto tensor = dyn_cast<RankedTensorType>(access->pointer.getType()))
      wide = tensor.clone(wide);
    finding.address = tt::PtrToIntOp::create(b, wide, access->pointer);
  }
  // The tensor that the lanes come from, if it is one for sure.
  if (access && access->pointer) {
    Roots roots = rootsOf(access->pointer, checker.kernel);
    if (roots.arguments.size() == 1 && roots.others.empty() && !roots.isOpen)
      finding.note["argument"] = int64_t(roots.arguments.front());
  }
  finding.note["sink"] = target.kind;
  describe(finding.note, "sink", sink);
  if (target.mixed) {
    finding.note["through"] = target.mixed->getName().stripDialect();
    describe(finding.note, "through", target.mixed);
  }
  checker.report(b, std::move(finding));
  if (!hasCorners)
    return;
  keepScalars(branch);
  checker.looksOfLanes.push_back({load, branch});
}

void LanesOfLoad::run() {
  bool isExact;
  // The load's lanes that are off lack one of these.
  auto conditions = conditionsOf(mask, true, isExact);
  if (!conditions) // never loads, and every lane is off
    conditions =
        Conditions{Condition{View::of(mask), true, std::nullopt, {}, {}}};
  Conditions unproved;
  DenseSet<Value> values;
  Operation *unknown = nullptr;
  for (const Condition &condition : *conditions) {
    // Without the condition, no way ends because it excludes the lanes.
    Flow flow(load->getResult(0),
              checker.isStatic ? Conditions{negated(condition)} : Conditions());
    SmallVector<const Flow::Reach *> reached;
    for (const Flow::Reach &reach : flow.reaches())
      reached.push_back(&reach);
    unknown = unknown ? unknown : flow.unknown();
    if (reached.empty())
      continue;
    unproved.push_back(condition);
    addTargets(flow, reached);
    DenseSet<Value> way = flow.waysTo(reached);
    values.insert(way.begin(), way.end());
  }
  if (unproved.empty()) {
    if (unknown)
      checker.say(load, "lanes", Verdict::Unsupported,
                  ("the values reach '" + unknown->getName().getStringRef() +
                   "', which is not followed")
                      .str());
    else
      checker.say(load, "lanes", Verdict::Proved,
                  "no lane that is off has an effect");
    return;
  }
  checker.say(load, "lanes", Verdict::Checked, "");
  Taint taint(cast<OpResult>(load->getResult(0)), unproved, std::move(values));
  Replacements replaced;
  taint.prepare(replaced);
  for (Target &target : targets) {
    if (Operation *now = replaced.lookup(target.op))
      target.op = now;
    checkTarget(taint, target);
  }
  taint.finish();
}

void sanitizer::checkLanes(Checker &checker) {
  if (!checker.wants("lanes"))
    return;
  SmallVector<Operation *> loads;
  for (const MemoryAccess &access : checker.accesses)
    if (access.kind != MemoryAccess::Kind::Store && access.mask &&
        !access.other && access.op->getNumResults() == 1)
      loads.push_back(access.op);
  for (Operation *load : loads)
    if (auto access = analysis::memoryAccessOf(load))
      LanesOfLoad(checker, load, access->mask).run();
  // Loops that have been replaced have other arguments and results.
  for (MemoryAccess &access : checker.accesses)
    access = *analysis::memoryAccessOf(access.op);
}
