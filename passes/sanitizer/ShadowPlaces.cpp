// SPDX-License-Identifier: Apache-2.0
//
// Moves looks at shadows out of loops, which they would slow down even if they
// are never taken, and to where the kernel's values are dead. A slice of the
// loop runs behind it, if a shadow is there.

#include "LoopSlice.h"
#include "Shadow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
using Kind = MemoryAccess::Kind;

/// Whether no other program can hear of `op`, or wait in it for another one.
/// Says nothing of what is in its regions.
static bool isQuiet(Operation *op) {
  // No other program waits for what checks and looks do.
  bool isOfCheck =
      isOwn(op) ||
      isa<probe::CheckOp, probe::FailuresOp, probe::LaunchWordOp>(op);
  if (isOfCheck || op->getNumRegions() || isMemoryEffectFree(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return true;
  auto access = analysis::memoryAccessOf(op);
  return access && !access->isAtomic && access->kind != Kind::Atomic;
}

/// Whether a look finds the same behind the loop. Marks and comparisons of
/// `uninit` depend on their order, so either all looks of a loop with both go
/// behind it, or none, and none if a program may wait in it for another one.
bool ShadowChecker::mayDefer(const ShadowAccess &one, scf::ForOp loop) {
  if (!LoopSlice::of(loop, {one.look}, LoopSlice::Copies::Branches))
    return false;
  if (one.isRace())
    return true;
  bool reads = false, writes = false, isWhole = true, isStopped = isOrdered;
  for (const ShadowAccess &other : shadowed) {
    if (other.isRace() || !loop->isProperAncestor(other.look))
      continue;
    reads |= other.reads();
    writes |= other.writes();
    isWhole = isWhole &&
              LoopSlice::of(loop, {other.look}, LoopSlice::Copies::Branches);
  }
  loop->walk([&](Operation *op) { isStopped |= !isQuiet(op); });
  return !isStopped && (isWhole || !(reads && writes));
}

/// Returns the outermost loop behind which a look may go; null if there is
/// none.
scf::ForOp ShadowChecker::loopFor(const ShadowAccess &one) {
  scf::ForOp found;
  for (Operation *parent = one.look->getParentOp();
       isa<scf::ForOp, scf::IfOp>(parent); parent = parent->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      if (mayDefer(one, loop))
        found = loop;
  return found;
}

/// Whether a look for `uninit` may move in its block.
bool ShadowChecker::mayMove(const ShadowAccess &one) {
  ImplicitLocOpBuilder b = checker.before(one.access.op);
  return !isOrdered && !one.access.isAtomic &&
         (one.access.lanes == 1 || canBuildLanes(tracker, one.access, b));
}

/// Returns the operation before which a look belongs that is about `about`: the
/// first one behind it that another program can hear of, or that has looks
/// which stay where they are, or the end of the block. A look for an
/// access before `about`, such as one at loaded indices, does not stop it:
/// what `about` writes is marked behind it.
Operation *ShadowChecker::stopBehind(Operation *about) {
  Operation *op = about->getNextNode();
  for (; !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode()) {
    auto visit = [&](Operation *inner) {
      auto look = llvm::find_if(shadowed, [&](const ShadowAccess &other) {
        return other.look == inner;
      });
      if (look == shadowed.end())
        return isQuiet(inner) ? WalkResult::advance() : WalkResult::interrupt();
      Operation *access =
          about->getBlock()->findAncestorOpInBlock(*look->access.op);
      bool isBefore = access && access->isBeforeInBlock(about);
      bool stays = !look->isRace() && !look->loop && !isBefore;
      bool isStop = stays && (inner != op || !mayMove(*look));
      return isStop ? WalkResult::interrupt() : WalkResult::skip();
    };
    if (op->walk<WalkOrder::PreOrder>(visit).wasInterrupted())
      return op;
  }
  return op;
}

/// Replaces looks in a loop by a slice of it before `place`.
void ShadowChecker::defer(scf::ForOp loop, ArrayRef<ShadowAccess *> looks,
                          Operation *place) {
  IRRewriter rewriter(checker.kernel.getContext());
  rewriter.setInsertionPoint(place);
  SmallVector<scf::IfOp> branches;
  llvm::SmallSetVector<Value, 4> shadows;
  for (ShadowAccess *one : looks) {
    branches.push_back(one->look);
    shadows.insert(hasShadow(*one));
  }
  Value isAny = shadows.front();
  for (Value other : shadows.getArrayRef().drop_front())
    isAny = arith::OrIOp::create(rewriter, loop.getLoc(), isAny, other);
  auto rare = scf::IfOp::create(rewriter, loop.getLoc(), isAny,
                                /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(rare.thenBlock());
  LoopSlice::of(loop, branches, LoopSlice::Copies::Branches)->build(rewriter);
  for (ShadowAccess *one : looks) {
    rewriter.eraseOp(one->look);
    one->look = rare;
  }
}

/// Without the static part, looks for `uninit` stay with their accesses. Looks
/// for races move: no proof lets them, because any order of them is right.
void ShadowChecker::moveLooks() {
  using Key =
      std::pair<Operation *, unsigned>; // the loop, and whether for races
  llvm::MapVector<Key, SmallVector<ShadowAccess *>> deferred;
  for (ShadowAccess &one : shadowed)
    if ((checker.isStatic || one.isRace()) && (one.loop = loopFor(one)))
      deferred[{one.loop, unsigned(one.isRace())}].push_back(&one);
  // In the order of the program, which those with the same place keep.
  for (ShadowAccess &one : shadowed) {
    if (!one.loop) {
      if (checker.isStatic && !one.isRace() && mayMove(one))
        one.look->moveBefore(stopBehind(one.access.op));
      continue;
    }
    auto it = deferred.find({one.loop, unsigned(one.isRace())});
    if (it == deferred.end())
      continue;
    Operation *place = one.isRace() ? one.loop->getBlock()->getTerminator()
                                    : stopBehind(one.loop);
    defer(one.loop, it->second, place);
    deferred.erase(it);
  }
}
