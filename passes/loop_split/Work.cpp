// SPDX-License-Identifier: Apache-2.0
//
// Follows a comparison forwards to the branches, selects and masks that depend
// on it, and the condition of a branch backwards to comparisons.

#include "Work.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;

/// Returns whether the user would do less if this operand was a constant.
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

/// Returns whether a constant operand may make the user's result a constant.
static bool mayFoldFor(OpOperand &use) {
  Operation *user = use.getOwner();
  // A negation is an `xori` with a constant.
  if (isa<arith::XOrIOp>(user))
    return matchPattern(user->getOperand(1 - use.getOperandNumber()),
                        m_Constant());
  if (isa<arith::SelectOp>(user))
    return use.getOperandNumber() != 0;
  return isa<arith::AndIOp, arith::OrIOp, triton::SplatOp, triton::ExpandDimsOp,
             triton::BroadcastOp, triton::ReshapeOp, triton::TransOp>(user);
}

void mlir::triton_ext::loop_split::forEachDecided(
    Value condition, llvm::function_ref<bool(OpOperand &)> visit) {
  SetVector<Value> values;
  values.insert(condition);
  for (size_t next = 0; next < values.size(); ++next)
    for (OpOperand &use : values[next].getUses()) {
      if (doesLessFor(use) && !visit(use))
        return;
      if (mayFoldFor(use))
        values.insert(use.getOwner()->getResult(0));
    }
}

bool mlir::triton_ext::loop_split::decidesAboutWork(Value condition) {
  bool decides = false;
  forEachDecided(condition, [&](OpOperand &) {
    decides = true;
    return false;
  });
  return decides;
}

/// Returns whether `decided` is a logical combination of `condition` and other
/// values.
static bool isCombinedOf(Value decided, Value condition) {
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

bool mlir::triton_ext::loop_split::isGuarded(arith::CmpIOp op,
                                             ArrayRef<Condition> conditions) {
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>())
    for (const Condition &condition : conditions) {
      arith::CmpIOp other = condition.op;
      if (!condition.hasTail() &&
          isCombinedOf(branch.getCondition(), other.getResult()))
        return true;
    }
  return false;
}
