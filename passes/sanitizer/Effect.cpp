// SPDX-License-Identifier: Apache-2.0
//
// Finds the lanes of a value that have an effect by following the value.

#include "Effect.h"
#include "Bits.h"
#include "Flow.h"

#include "analysis/Dimensions.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;

/// If there are more paths than this, every lane is assumed to have an effect.
static constexpr size_t mostWays = 8;

/// Returns whether the value can be used in the block of `op`, behind `known`,
/// which is moved to where that is so.
static bool isKnownNear(Operation *op, Value value, Operation *&known) {
  Block *block = value.getParentBlock();
  Operation *here = block->findAncestorOpInBlock(*op);
  if (!here)
    return false;
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->isBeforeInBlock(here))
    return true;
  if (here != op) // behind the loop or the branch that contains `op`
    return false;
  if (known->isBeforeInBlock(definition))
    known = definition;
  return true;
}

Effect Effect::of(OpResult value, ArrayRef<Condition> facts) {
  Flow flow(value, facts);
  Effect effect;
  Operation *op = effect.known = value.getOwner();
  effect.isNone = flow.reaches().empty() && !flow.unknown();
  if (flow.unknown())
    return effect;
  Operation *known = op;
  for (const Flow::Reach &reach : flow.reaches()) {
    Conditions when;
    for (const Condition &one : reach.when)
      if (isKnownNear(op, one.bit.base, known))
        when.push_back(one);
    if (llvm::is_contained(effect.ways, when))
      continue;
    if (when.empty() || effect.ways.size() == mostWays) {
      effect.ways.clear();
      return effect;
    }
    effect.ways.push_back(std::move(when));
  }
  effect.known = known;
  return effect;
}

Value Effect::materialize(ImplicitLocOpBuilder &b,
                          ArrayRef<int64_t> shape) const {
  Value lanes;
  for (const Conditions &way : ways) {
    Value all;
    for (const Condition &one : way) {
      Value bits = sanitizer::materialize(b, one, shape);
      all = all ? Value(arith::AndIOp::create(b, all, bits)) : bits;
    }
    lanes = lanes ? Value(arith::OrIOp::create(b, lanes, all)) : all;
  }
  return lanes;
}

void sanitizer::reportWhere(Checker &checker, ImplicitLocOpBuilder &b,
                            Value bad, StringRef check, Operation *op,
                            llvm::function_ref<void(Finding &)> fill) {
  auto branch = scf::IfOp::create(b, anyOf(b, bad), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  Finding finding{check, op, notOf(b, bad), {}, {}, {}, {}};
  fill(finding);
  checker.report(b, std::move(finding));
}

std::string sanitizer::nameOf(Value value, StringRef otherwise) {
  auto name = dyn_cast<NameLoc>(value.getLoc());
  return name ? name.getName().str() : otherwise.str();
}
