// SPDX-License-Identifier: Apache-2.0
//
// Makes one branch of several that look at shadows.

#include "Calls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
namespace tt = mlir::triton;

namespace {
/// A branch that looks at shadows if there are some, and does nothing else.
struct Look {
  scf::IfOp branch;
  SmallVector<tt::PrintOp> calls;

  bool commutesWith(const Look &other) const;
};
} // namespace

static bool isForBits(tt::PrintOp call) {
  return call->getAttr(kCall) ==
         StringAttr::get(call.getContext(), kLookAtBits);
}

static bool isLook(Operation &op) {
  auto name = op.getAttrOfType<StringAttr>(kCall);
  return name && (name == kLookAtBits || name == kLookForRaces);
}

/// Whether a look marks bytes as written.
static bool marks(tt::PrintOp call) {
  APInt how;
  return isForBits(call) &&
         (!matchPattern(call.getOperand(kHow), m_ConstantInt(&how)) || how[1]);
}

/// Whether the looks may change places. Those for races may be in any order,
/// and so may those that only read bits.
bool Look::commutesWith(const Look &other) const {
  bool isMarked =
      llvm::any_of(calls, marks) || llvm::any_of(other.calls, marks);
  return !isMarked || llvm::none_of(calls, isForBits) ||
         llvm::none_of(other.calls, isForBits);
}

/// Whether a condition says that one of some tensors has a shadow, and nothing
/// else. The condition of an `if` of the kernel may have become a part of it,
/// or have taken its place; the runtime would not know of that.
static bool isOfShadows(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (op && isa<arith::OrIOp>(op))
    return llvm::all_of(op->getOperands(), isOfShadows);
  return op && isa<arith::CmpIOp>(op) && op->hasAttr("probe.has_shadow");
}

static std::optional<Look> lookIn(Operation &op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch.getNumResults() || branch.elseBlock() ||
      !isOfShadows(branch.getCondition()))
    return std::nullopt;
  Look look{branch, {}};
  for (Operation &inner : branch.thenBlock()->without_terminator()) {
    if (isLook(inner))
      look.calls.push_back(cast<tt::PrintOp>(inner));
    else if (!isMemoryEffectFree(&inner))
      return std::nullopt;
  }
  return look.calls.empty() ? std::nullopt : std::optional(look);
}

/// Whether two values of different branches are computed in the same way from
/// the same values before the branches.
static bool areAlike(Value one, Value other) {
  if (one == other)
    return true;
  Operation *a = one.getDefiningOp(), *b = other.getDefiningOp();
  return a && b && a->getName() == b->getName() && a->getNumResults() == 1 &&
         !a->getNumRegions() && isMemoryEffectFree(a) &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getResultTypes() == b->getResultTypes() &&
         llvm::equal(a->getOperands(), b->getOperands(), areAlike);
}

/// Whether the lanes of two looks have the same offsets.
static bool areAlike(const Look &one, const Look &other) {
  return areAlike(one.calls.front()->getOperands().back(),
                  other.calls.front()->getOperands().back());
}

/// Moves the calls of `one` into the branch of `other`, which comes later in
/// the block, in front of the calls there.
static void join(Look &one, Look &other) {
  OpBuilder b(other.branch);
  Value condition = one.branch.getCondition(),
        second = other.branch.getCondition();
  if (condition != second)
    other.branch.getConditionMutable().assign(
        arith::OrIOp::create(b, other.branch.getLoc(), condition, second));
  Block *from = one.branch.thenBlock(), *to = other.branch.thenBlock();
  from->getTerminator()->erase();
  to->getOperations().splice(to->begin(), from->getOperations());
  one.branch.erase();
  other.calls.insert(other.calls.begin(), one.calls.begin(), one.calls.end());
}

void mlir::triton_ext::lower_probe::joinLooks(tt::FuncOp kernel) {
  kernel.walk([](Block *block) {
    SmallVector<Look> looks; // that nothing but what has no effects follows
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      std::optional<Look> look = lookIn(op);
      if (!look) {
        if (op.getNumRegions() || !isMemoryEffectFree(&op))
          looks.clear();
        continue;
      }
      for (size_t i = looks.size(); i-- > 0;) {
        bool isFree = llvm::all_of(
            ArrayRef(looks).drop_front(i + 1),
            [&](const Look &later) { return looks[i].commutesWith(later); });
        if (!isFree || !areAlike(looks[i], *look))
          continue;
        join(looks[i], *look);
        looks.erase(looks.begin() + i);
        break;
      }
      looks.push_back(std::move(*look));
    }
  });
}
