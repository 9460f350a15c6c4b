// SPDX-License-Identifier: Apache-2.0
//
// Takes the looks at lanes out of loops. A branch in a loop makes Triton wait
// for asynchronous operations, and takes registers of the whole loop.

#include "DeferLooks.h"
#include "LoopSlice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;

/// Returns the outermost loop with a slice for a look; null if there is none,
/// or if Triton distributes a loop around the look over warps: its passes for
/// that crash on a bit that the loop carries.
scf::ForOp mlir::triton_ext::sanitizer::loopFor(const Look &look) {
  scf::ForOp found;
  for (Operation *parent = look.branch->getParentOp();
       isa<scf::ForOp, scf::IfOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop && loop->hasAttr("tt.warp_specialize"))
      return {};
    if (loop && LoopSlice::of(loop, {look.branch}, LoopSlice::Copies::Bodies))
      found = loop;
  }
  return found;
}

static unsigned depthOf(Operation *op) {
  unsigned depth = 0;
  while ((op = op->getParentOp()))
    ++depth;
  return depth;
}

namespace {
/// The looks of one loop nest that are deferred together.
class Deferral {
public:
  Deferral(scf::ForOp loop, ArrayRef<scf::IfOp> branches);
  /// Moves the looks behind the loop, into a branch before `place`.
  scf::IfOp run(Operation *place);

private:
  Value raise(Block *block, Value flag);
  Value raise(scf::ForOp inner, Value flag);
  Value raise(scf::IfOp branch, Value flag);

  scf::ForOp loop;
  SmallVector<scf::IfOp> branches;
  /// The looks, and the loops and branches around them.
  DenseSet<Operation *> looks, around;
  IRRewriter rewriter;
};
} // namespace

Deferral::Deferral(scf::ForOp loop, ArrayRef<scf::IfOp> branches)
    : loop(loop), branches(branches), rewriter(loop.getContext()) {
  looks.insert_range(branches);
  for (Operation *op : branches)
    while (op != loop)
      around.insert(op = op->getParentOp());
}

/// Computes in a block whether a look was to be taken in it or before, and
/// erases its looks. Returns the bit at the end of the block.
Value Deferral::raise(Block *block, Value flag) {
  for (Operation &op :
       llvm::make_early_inc_range(block->without_terminator())) {
    if (looks.contains(&op)) {
      rewriter.setInsertionPoint(&op);
      flag = arith::OrIOp::create(rewriter, op.getLoc(), flag,
                                  cast<scf::IfOp>(op).getCondition());
      rewriter.eraseOp(&op);
    } else if (around.contains(&op)) {
      auto inner = dyn_cast<scf::ForOp>(op);
      flag = inner ? raise(inner, flag) : raise(cast<scf::IfOp>(op), flag);
    }
  }
  return flag;
}

Value Deferral::raise(scf::ForOp inner, Value flag) {
  rewriter.setInsertionPoint(inner);
  auto replaced = inner.replaceWithAdditionalYields(
      rewriter, flag, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
        return SmallVector<Value>(added.begin(), added.end());
      });
  assert(succeeded(replaced) && "an scf.for takes further values");
  auto next = cast<scf::ForOp>(replaced->getOperation());
  unsigned last = next.getNumResults() - 1;
  Value end = raise(next.getBody(), next.getRegionIterArg(last));
  next.getBody()->getTerminator()->setOperand(last, end);
  return next.getResult(last);
}

Value Deferral::raise(scf::IfOp branch, Value flag) {
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(flag.getType());
  rewriter.setInsertionPoint(branch);
  auto next = scf::IfOp::create(rewriter, branch.getLoc(), types,
                                branch.getCondition(), /*withElse=*/false);
  next->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  for (unsigned i : {0u, 1u}) {
    Region &region = next->getRegion(i);
    region.takeBody(branch->getRegion(i));
    if (region.empty()) {
      rewriter.createBlock(&region);
      scf::YieldOp::create(rewriter, branch.getLoc());
    }
    Value end = raise(&region.front(), flag);
    Operation *yield = region.front().getTerminator();
    yield->insertOperands(yield->getNumOperands(), end);
  }
  rewriter.replaceOp(branch, next.getResults().drop_back());
  return next.getResults().back();
}

scf::IfOp Deferral::run(Operation *place) {
  std::optional<LoopSlice> slice =
      LoopSlice::of(loop, branches, LoopSlice::Copies::Bodies);
  assert(slice && "each of the looks has a slice");
  rewriter.setInsertionPoint(loop);
  Value no = arith::ConstantOp::create(rewriter, loop.getLoc(),
                                       rewriter.getBoolAttr(false));
  rewriter.setInsertionPoint(place);
  auto look = scf::IfOp::create(rewriter, loop.getLoc(), no,
                                /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(look.thenBlock());
  slice->build(rewriter);
  look.getConditionMutable().set(raise(loop, no));
  return look;
}

/// Returns the place of deferred looks: the first look behind the loop, so that
/// findings keep the order of the program, or the end of the block. A look at
/// lanes stands before what they reach, which may be in front of their load if
/// a loop carries them.
static Operation *placeBehind(scf::ForOp loop, ArrayRef<Look> looks) {
  Block *block = loop->getBlock();
  for (const Look &look : looks) {
    Operation *access = block->findAncestorOpInBlock(*look.access);
    if (look.branch && look.branch->getBlock() == block && access &&
        loop->isBeforeInBlock(access) && loop->isBeforeInBlock(look.branch))
      return look.branch;
  }
  return block->getTerminator();
}

SmallVector<scf::IfOp>
mlir::triton_ext::sanitizer::deferLooks(ArrayRef<Look> looks) {
  // By the depth of the loop, which stays when loops in it or around it are
  // replaced. Inner loops come first: their slices need a place in outer ones.
  std::map<unsigned, SmallVector<unsigned>, std::greater<unsigned>> byDepth;
  for (auto [i, look] : llvm::enumerate(looks))
    if (scf::ForOp loop = loopFor(look))
      byDepth[depthOf(loop)].push_back(i);
  SmallVector<Look> left(looks);
  SmallVector<scf::IfOp> branches;
  for (const auto &[depth, numbers] : byDepth) {
    llvm::MapVector<Operation *, SmallVector<scf::IfOp>> loops;
    for (unsigned i : numbers) {
      Operation *loop = left[i].branch->getParentOp();
      while (depthOf(loop) != depth)
        loop = loop->getParentOp();
      loops[loop].push_back(left[i].branch);
      left[i].branch = {};
    }
    for (const auto &[op, inside] : loops) {
      auto loop = cast<scf::ForOp>(op);
      Operation *place = placeBehind(loop, left);
      branches.push_back(Deferral(loop, inside).run(place));
    }
  }
  for (const Look &look : left)
    if (look.branch)
      branches.push_back(look.branch);
  llvm::erase_if(branches, [](scf::IfOp branch) {
    return bool(branch->getParentOfType<LoopLikeOpInterface>());
  });
  return branches;
}
