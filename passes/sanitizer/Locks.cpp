// SPDX-License-Identifier: Apache-2.0
//
// Finds spin locks: a loop that exchanges a number of memory until it was free,
// and the atomic operation that sets it free. Signals.cpp finds other ways to
// take turns, such as a flag that programs wait for.

#include "Locks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

namespace {
/// An atomic operation that stores `stored`, if it finds `expected`.
struct Exchange {
  Value pointer;
  std::optional<int64_t> expected; ///< nullopt: it always stores
  int64_t stored;
  bool isAcquire, isRelease;
};
} // namespace

/// Whether a copy of an operation has the same result.
static bool canCopy(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         isMemoryEffectFree(op);
}

/// Returns what an operation does to a number of memory that may be a lock.
static std::optional<Exchange> exchangeOf(Operation *op) {
  Exchange found;
  Value stored;
  tt::MemSemantic order;
  tt::MemSyncScope scope;
  if (auto cas = dyn_cast_or_null<tt::AtomicCASOp>(op)) {
    found.pointer = cas.getPtr();
    found.expected = getConstantIntValue(cas.getCmp());
    if (!found.expected)
      return std::nullopt;
    stored = cas.getVal();
    order = cas.getSem();
    scope = cas.getScope();
  } else if (auto rmw = dyn_cast_or_null<tt::AtomicRMWOp>(op)) {
    bool isAlways =
        !rmw.getMask() || getConstantIntValue(rmw.getMask()).value_or(0);
    if (rmw.getAtomicRmwOp() != tt::RMWOp::XCHG || !isAlways)
      return std::nullopt;
    found.pointer = rmw.getPtr();
    stored = rmw.getVal();
    order = rmw.getSem();
    scope = rmw.getScope();
  } else {
    return std::nullopt;
  }
  std::optional<int64_t> number = getConstantIntValue(stored);
  // CTA: of one program, so it orders nothing between two.
  if (!number || scope == tt::MemSyncScope::CTA ||
      isa<RankedTensorType>(found.pointer.getType()))
    return std::nullopt;
  found.stored = *number;
  bool isBoth = order == tt::MemSemantic::ACQUIRE_RELEASE;
  found.isAcquire = isBoth || order == tt::MemSemantic::ACQUIRE;
  found.isRelease = isBoth || order == tt::MemSemantic::RELEASE;
  return found;
}

/// Whether two values are the same because the same operations compute them.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && canCopy(x) && canCopy(y) &&
         OperationEquivalence::isEquivalentTo(
             x, y, [](Value a, Value b) { return success(isSame(a, b)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Returns the exchange whose result is `value`: that of an operation, or of
/// one before the loop and one in it if the loop carries it.
static std::optional<Exchange> exchangeBehind(Value value, scf::WhileOp loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return exchangeOf(value.getDefiningOp());
  if (argument.getOwner() != loop.getBeforeBody())
    return std::nullopt;
  unsigned number = argument.getArgNumber();
  auto first = exchangeOf(loop.getInits()[number].getDefiningOp());
  auto next = exchangeOf(loop.getYieldOp().getOperand(number).getDefiningOp());
  bool isOne = first && next && isSame(first->pointer, next->pointer) &&
               first->expected == next->expected &&
               first->stored == next->stored && first->isAcquire;
  return isOne ? next : std::nullopt;
}

/// Returns the exchange by which a loop takes a lock: it goes on while the lock
/// was not free before the exchange.
static std::optional<Exchange> acquiredBy(scf::WhileOp loop) {
  auto compare =
      loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  auto exchange = exchangeBehind(compare.getLhs(), loop);
  auto number = getConstantIntValue(compare.getRhs());
  if (!exchange || !number || !exchange->isAcquire ||
      exchange->expected == exchange->stored)
    return std::nullopt;
  // A lock has two values, so it was free if it was not taken.
  bool isTaken = compare.getPredicate() == P::eq && *number == exchange->stored;
  bool isNotFree = compare.getPredicate() == P::ne &&
                   *number == exchange->expected.value_or(*number) &&
                   *number != exchange->stored;
  return isTaken || isNotFree ? exchange : std::nullopt;
}

/// Whether an operation sets a lock free that `taken` has taken.
static bool isRelease(Operation *op, const Exchange &taken) {
  auto exchange = exchangeOf(op);
  return exchange && exchange->isRelease && exchange->stored != taken.stored &&
         exchange->expected.value_or(taken.stored) == taken.stored &&
         isSame(exchange->pointer, taken.pointer);
}

/// Whether a value can be computed before a loop.
static bool isKnownBefore(Value value, scf::WhileOp loop) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  return !loop->isAncestor(op) ||
         (canCopy(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
            return isKnownBefore(operand, loop);
          }));
}

static Operation *releaseBehind(scf::WhileOp loop, const Exchange &taken) {
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    if (isRelease(op, taken))
      return op;
    // In a branch, the lock may be free behind it, and nobody knows.
    auto visit = [&](Operation *inner) {
      return isRelease(inner, taken) ? WalkResult::interrupt()
                                     : WalkResult::advance();
    };
    if (op->walk(visit).wasInterrupted())
      return nullptr;
  }
  return nullptr;
}

Locks::Locks(tt::FuncOp kernel) {
  kernel.walk([&](scf::WhileOp loop) {
    auto taken = acquiredBy(loop);
    Operation *release = taken ? releaseBehind(loop, *taken) : nullptr;
    if (!release || !isKnownBefore(taken->pointer, loop))
      return;
    acquires.insert(loop);
    others.insert(release);
    for (Value init : loop.getInits())
      if (Operation *op = init.getDefiningOp(); exchangeOf(op))
        others.insert(op);
    for (Operation *op = loop->getNextNode(); op != release;
         op = op->getNextNode())
      op->walk([&](Operation *inner) {
        held[inner].push_back({loop, taken->pointer});
      });
  });
}

ArrayRef<Lock> Locks::heldIn(Operation *op) const {
  auto it = held.find(op);
  return it == held.end() ? ArrayRef<Lock>() : ArrayRef<Lock>(it->second);
}

static Value copyBefore(Value value, scf::WhileOp loop, OpBuilder &b) {
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return value;
  IRMapping copies;
  for (Value operand : op->getOperands())
    copies.map(operand, copyBefore(operand, loop, b));
  return b.clone(*op, copies)->getResult(0);
}

Value Locks::pointerBefore(const Lock &lock) {
  scf::WhileOp loop = lock.acquire;
  OpBuilder b(loop);
  return copyBefore(lock.pointer, loop, b);
}
