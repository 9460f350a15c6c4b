// SPDX-License-Identifier: Apache-2.0
//
// Selects under a mask that is true for all elements in most iterations: the
// mask and the select go into a branch, and the loop stays whole, which keeps
// its software pipeline full. Loops are changed only where such a select is.

#include "Guard.h"
#include "TripCounter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using arith::CmpIPredicate;

namespace {
/// The comparisons that the condition of a select is made of.
struct Mask {
  SetVector<const Condition *> conditions;
  /// The operations that combine them, operands before users.
  SetVector<Operation *> path;
};

class Guard {
public:
  Guard(RewriterBase &rewriter, scf::ForOp loop, ArrayRef<Condition> conditions,
        bool noWrap)
      : rewriter(rewriter), loop(loop), conditions(conditions),
        analysis(loop, noWrap) {}

  SmallVector<arith::CmpIOp> run();

private:
  bool collect(Value value, Mask &mask);
  Value isFree(const Condition &condition);
  void rewrite(arith::SelectOp select);
  void sink(Block &block);

  RewriterBase &rewriter;
  scf::ForOp loop;
  ArrayRef<Condition> conditions;
  ConditionAnalysis analysis;
  /// What `isFree` returned for the comparisons that it was asked for.
  llvm::DenseMap<Operation *, Value> free;
  SmallVector<arith::CmpIOp> settled;
};
} // namespace

/// Adds to `mask` the conditions that `value` is made of and that may be
/// guarded. Returns whether there is one.
bool Guard::collect(Value value, Mask &mask) {
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op))
    return false;
  if (mask.path.contains(op))
    return true;
  for (const Condition &condition : conditions)
    if (condition.op == op && condition.hasTail() && isFree(condition)) {
      mask.conditions.insert(&condition);
      return true;
    }
  if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, triton::SplatOp,
           triton::ExpandDimsOp, triton::BroadcastOp, triton::ReshapeOp,
           triton::TransOp>(op))
    return false;
  bool found = false;
  for (Value operand : op->getOperands())
    found |= collect(operand, mask);
  if (found)
    mask.path.insert(op);
  return found;
}

/// Returns a boolean that says in each iteration whether all elements are true;
/// null if that is the same in all iterations.
Value Guard::isFree(const Condition &condition) {
  auto [known, isNew] = free.try_emplace(condition.op);
  if (!isNew)
    return known->second;
  Side side = condition.sideOf(true);
  TripCounter counter(rewriter, loop, analysis);
  Value count = counter.countUpTo(condition, side);
  if (counter.isZero(count) || counter.isAll(count))
    return nullptr;
  CmpIPredicate predicate =
      side == Side::Lead ? CmpIPredicate::slt : CmpIPredicate::sge;
  if (loop.getUnsignedCmp())
    predicate = toUnsigned(predicate);
  arith::CmpIOp op = condition.op;
  Value place = counter.placeOf(count);
  rewriter.setInsertionPointToStart(loop.getBody());
  auto compare = arith::CmpIOp::create(rewriter, op.getLoc(), predicate,
                                       loop.getInductionVar(), place);
  settled.push_back(compare);
  return known->second = compare;
}

/// Moves operations that only `block` uses from the loop into the block.
void Guard::sink(Block &block) {
  for (bool moved = true; moved;) {
    moved = false;
    for (Operation &user : llvm::make_early_inc_range(block))
      for (Value operand : user.getOperands()) {
        Operation *op = operand.getDefiningOp();
        if (!op || op->getBlock() == &block || !loop->isProperAncestor(op) ||
            op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
            op->hasTrait<OpTrait::ConstantLike>() ||
            llvm::any_of(op->getUsers(), [&](Operation *other) {
              return other->getBlock() != &block;
            }))
          continue;
        rewriter.moveOpBefore(op, &block.front());
        moved = true;
      }
  }
}

void Guard::rewrite(arith::SelectOp select) {
  Mask mask;
  if (!collect(select.getCondition(), mask))
    return;
  Location loc = select.getLoc();
  Value allFree;
  for (const Condition *condition : mask.conditions) {
    Value one = isFree(*condition);
    rewriter.setInsertionPoint(select);
    allFree =
        allFree ? arith::AndIOp::create(rewriter, loc, allFree, one).getResult()
                : one;
  }
  auto branch = scf::IfOp::create(rewriter, loc, select.getType(), allFree,
                                  /*withElseRegion=*/true);
  for (bool whole : {true, false}) {
    rewriter.setInsertionPointToStart(whole ? branch.thenBlock()
                                            : branch.elseBlock());
    IRMapping mapping;
    for (const Condition *condition : mask.conditions) {
      arith::CmpIOp op = condition->op;
      Value value;
      if (whole) {
        auto type = cast<ShapedType>(op.getType());
        value = arith::ConstantOp::create(rewriter, loc,
                                          DenseElementsAttr::get(type, true));
      } else {
        auto copy = cast<arith::CmpIOp>(rewriter.clone(*op));
        settled.push_back(copy);
        value = copy;
      }
      mapping.map(op.getResult(), value);
    }
    for (Operation *op : mask.path)
      rewriter.clone(*op, mapping);
    Operation *copy = rewriter.clone(*select, mapping);
    scf::YieldOp::create(rewriter, loc, copy->getResults());
  }
  rewriter.replaceOp(select, branch);
  for (Operation *op : llvm::reverse(mask.path))
    if (op->use_empty())
      rewriter.eraseOp(op);
  sink(*branch.elseBlock());
}

SmallVector<arith::CmpIOp> Guard::run() {
  SmallVector<arith::SelectOp> selects;
  loop.getRegion().walk([&](arith::SelectOp select) {
    if (isa<ShapedType>(select.getCondition().getType()))
      selects.push_back(select);
  });
  for (arith::SelectOp select : selects)
    rewrite(select);
  return settled;
}

SmallVector<arith::CmpIOp> mlir::triton_ext::loop_split::guardMasks(
    RewriterBase &rewriter, scf::ForOp loop, ArrayRef<Condition> conditions,
    bool noWrap) {
  return Guard(rewriter, loop, conditions, noWrap).run();
}
