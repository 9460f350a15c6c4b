// SPDX-License-Identifier: Apache-2.0
//
// Finds the atomic operations that order the programs of a launch: a release
// that says that a program is done, and an acquire behind which another one
// goes on. What one program did before the release, and another one does
// behind the acquire, do not race (C++ standard, [intro.races]). Which release
// an acquire has read is not known, so any pair of them may give an order.

#include "Signals.h"
#include "analysis/MemoryAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

bool mlir::triton_ext::sanitizer::mayBeOrdered(const SignalPlace &one,
                                               const SignalPlace &other) {
  return (one.isBeforeSignal && other.isBehindWait) ||
         (other.isBeforeSignal && one.isBehindWait);
}

/// Returns the semantics of an atomic operation that other programs see;
/// relaxed for those of one program, and for all other operations.
static tt::MemSemantic semanticsOf(Operation *op) {
  return TypeSwitch<Operation *, tt::MemSemantic>(op)
      .Case<tt::AtomicPollOp, tt::AtomicLoadOp, tt::AtomicStoreOp,
            tt::AtomicRMWOp, tt::AtomicCASOp>([](auto atomic) {
        bool isOwn = atomic.getScope() == tt::MemSyncScope::CTA;
        return isOwn ? tt::MemSemantic::RELAXED : atomic.getSem();
      })
      .Default(tt::MemSemantic::RELAXED);
}

/// Whether an operation counts something, such as the tiles that programs have
/// taken.
static bool isTicket(Operation *op) {
  auto rmw = dyn_cast<tt::AtomicRMWOp>(op);
  return rmw && rmw.getAtomicRmwOp() == tt::RMWOp::ADD &&
         getConstantIntValue(rmw.getVal()) != 0;
}

/// Whether an operation is decided by this operand: a branch, a loop, or an
/// access with a mask.
static bool isDecidedBy(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<scf::ConditionOp, scf::IfOp>(user))
    return use.getOperandNumber() == 0;
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return use.getOperandNumber() < loop.getNumControlOperands();
  auto access = triton_ext::analysis::memoryAccessOf(user);
  return isa<BranchOpInterface>(user) || (access && access->mask == use.get());
}

/// Whether the result of an atomic operation decides what runs. What reaches a
/// lock's loop only decides who has the lock. A ticket that is below a bound
/// only decides how many turns of a loop take a tile.
static bool decidesAnything(Operation *atomic, const Locks &locks) {
  bool isOfTicket = isTicket(atomic);
  llvm::SetVector<Value> reached;
  DenseSet<Value> orders; // those that are computed from an order comparison
  reached.insert(atomic->getResult(0));
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      bool isEnd = user->hasTrait<OpTrait::IsTerminator>();
      Operation *next = isEnd ? user->getParentOp() : user;
      if (locks.isAcquire(next))
        continue;
      bool isOrder = orders.contains(use.get());
      if (isDecidedBy(use)) {
        if (isOfTicket && isOrder && isa<scf::ConditionOp>(user))
          continue;
        return true;
      }
      auto loop = dyn_cast<LoopLikeOpInterface>(next);
      if (!(isEnd || loop || isMemoryEffectFree(user)))
        continue;
      auto compare = dyn_cast<arith::CmpIOp>(user);
      isOrder |= compare && compare.getPredicate() != P::eq &&
                 compare.getPredicate() != P::ne;
      // A loop may carry it to any of its values.
      auto reach = [&](ValueRange values) {
        reached.insert(values.begin(), values.end());
        if (isOrder)
          orders.insert(values.begin(), values.end());
      };
      reach(next->getResults());
      if (loop)
        for (Region &region : loop->getRegions())
          reach(region.getArguments());
    }
  return false;
}

Signals::Signals(tt::FuncOp kernel, const Locks &locks) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    numbers[op] = numbers.size();
    if (locks.isOfLock(op))
      return;
    tt::MemSemantic order = semanticsOf(op);
    bool isBoth = order == tt::MemSemantic::ACQUIRE_RELEASE;
    if (isBoth || order == tt::MemSemantic::RELEASE)
      signals.push_back(op);
    bool isAcquire = isBoth || order == tt::MemSemantic::ACQUIRE;
    if (isAcquire && (isa<tt::AtomicPollOp>(op) || decidesAnything(op, locks)))
      waits.push_back(op);
  });
}

/// Whether `op` may run before `later`, or be it.
bool Signals::mayPrecede(Operation *op, Operation *later) const {
  if (numbers.at(op) <= numbers.at(later))
    return true;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (loop->isProperAncestor(later))
      return true;
  return false;
}

SignalPlace Signals::placeOf(Operation *op) const {
  if (waits.empty() || signals.empty())
    return {};
  auto isBefore = [&](Operation *signal) { return mayPrecede(op, signal); };
  auto isBehind = [&](Operation *wait) { return mayPrecede(wait, op); };
  return {llvm::any_of(signals, isBefore), llvm::any_of(waits, isBehind)};
}
