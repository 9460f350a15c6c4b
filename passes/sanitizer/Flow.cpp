// SPDX-License-Identifier: Apache-2.0
//
// Follows values forward, from operation to operation, with the conditions
// under which a lane still matters.

#include "Flow.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "probe/Probe.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// If one value has more steps than this, conditions are dropped: a lane that
/// may matter under many conditions is assumed to matter always.
static constexpr size_t mostStepsOfValue = 8;

/// Returns whether the operation only prints a value or states a property of
/// it, so that no result depends on it.
static bool isObserver(Operation *op) {
  return isa<tt::PrintOp, LLVM::AssumeOp>(op) ||
         isa_and_nonnull<probe::ProbeDialect>(op->getDialect());
}

Flow::Flow(Value source, ArrayRef<Condition> facts) {
  arrive(0,
         {source, View::of(source).dims, {}, Conditions(facts), nullptr, {}});
  while (!worklist.empty()) {
    unsigned step = worklist.pop_back_val();
    Value value = steps[step].value;
    for (OpOperand &use : value.getUses())
      follow(step, use);
  }
}

/// Returns whether all conditions can hold in one lane.
static bool isPossible(ArrayRef<Condition> facts, ArrayRef<Condition> when) {
  Conditions all(facts);
  all.append(when.begin(), when.end());
  return !isContradictory(all);
}

static bool contains(ArrayRef<Condition> all, ArrayRef<Condition> some) {
  return llvm::all_of(
      some, [&](const Condition &one) { return llvm::is_contained(all, one); });
}

void Flow::arrive(unsigned from, Step step) {
  SmallVector<unsigned, 2> &known = stepsOf[step.value];
  // With fewer conditions and facts, more lanes matter, never fewer.
  if (known.size() >= mostStepsOfValue) {
    step.when.clear();
    step.facts.clear();
  }
  unsigned index = steps.size();
  for (unsigned i : known) {
    Step &other = steps[i];
    if (other.dims != step.dims || !contains(step.when, other.when) ||
        !contains(step.facts, other.facts))
      continue;
    if (!llvm::is_contained(other.from, from) && i != from)
      other.from.push_back(from);
    return;
  }
  step.from.clear();
  if (index)
    step.from.push_back(from);
  known.push_back(index);
  steps.push_back(std::move(step));
  worklist.push_back(index);
}

/// Adds the conditions under which `mask`, in the tile of step `from`, is
/// `isTrue`. Returns false if then the lane does not matter.
static bool addConditions(Value mask, bool isTrue, ArrayRef<int> dims,
                          Conditions &when) {
  bool isExact;
  auto conditions = conditionsOf(mask, isTrue, isExact);
  if (!conditions)
    return false;
  for (const Condition &one : *conditions)
    if (auto here = translated(one, dims);
        here && !llvm::is_contained(when, *here))
      when.push_back(*here);
  return true;
}

/// Drops conditions on what a loop computes anew in each iteration.
static void dropMadeIn(Operation *loop, Conditions &when) {
  llvm::erase_if(when,
                 [&](const Condition &one) { return isMadeIn(one, loop); });
}

void Flow::leave(unsigned from, scf::ForOp loop, unsigned index) {
  Step step = steps[from];
  dropMadeIn(loop, step.when);
  dropMadeIn(loop, step.facts);
  step.value = loop.getRegionIterArg(index);
  arrive(from, step);
  step.value = loop.getResult(index);
  arrive(from, step);
}

void Flow::follow(unsigned from, OpOperand &use) {
  const Step step = steps[from];
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (isObserver(op))
    return;
  if (auto sink = sinkOf(use)) {
    Conditions when = step.when;
    if (sink->mask && !addConditions(sink->mask, true, step.dims, when))
      return;
    if (isPossible(step.facts, when))
      found.push_back({from, &use, *sink, std::move(when)});
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return leave(from, loop, number - loop.getNumControlOperands());
  if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return leave(from, loop, number);
    if (isa<scf::IfOp>(parent)) {
      Step after = step;
      after.value = parent->getResult(number);
      return arrive(from, std::move(after));
    }
  }
  if (op->getNumResults() == 0 || op->getNumRegions() > 1 ||
      (op->getNumRegions() &&
       !isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op))) {
    if (!isa<tt::ReturnOp>(op))
      unknownUser = op;
    return;
  }
  Conditions when = step.when;
  if (auto gate = gateOf(use)) {
    if (!addConditions(gate->mask, gate->isOpen, step.dims, when) ||
        !isPossible(step.facts, when))
      return;
  }
  for (OpResult result : op->getResults()) {
    auto through = dimsThrough(use, result);
    if (!through) {
      unknownUser = op;
      return;
    }
    DimMap dims;
    for (int d : *through)
      dims.push_back(d < 0 ? -1 : step.dims[d]);
    Operation *mixed = step.mixed;
    if (!mixed && isa<tt::ReduceOp, tt::ScanOp, tt::DotOp, tt::HistogramOp>(op))
      mixed = op;
    arrive(from, {result, std::move(dims), when, step.facts, mixed, {}});
  }
}

DenseSet<Value> Flow::waysTo(ArrayRef<const Reach *> sinks) const {
  DenseSet<Value> values;
  llvm::SmallDenseSet<unsigned> seen;
  SmallVector<unsigned> todo;
  for (const Reach *reach : sinks)
    todo.push_back(reach->step);
  while (!todo.empty()) {
    unsigned i = todo.pop_back_val();
    if (!seen.insert(i).second)
      continue;
    values.insert(steps[i].value);
    todo.append(steps[i].from.begin(), steps[i].from.end());
  }
  return values;
}
