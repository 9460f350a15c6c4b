// SPDX-License-Identifier: Apache-2.0
//
// Replaces looks at lanes by a flag of the launch, or keeps nothing of a kernel
// but its looks. The host runs that kernel after a launch whose flag is set. As
// it has no effects, and reads no memory but the launch slot, it finds what the
// looks would have found in the launch.

#include "Apart.h"
#include "LoopSlice.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

namespace {
/// What some branches of a kernel need.
struct Needed {
  bool value(Value value);
  bool control(Operation *op);
  bool branch(scf::IfOp root);

  DenseSet<Operation *> operations; ///< loops and branches without results
  DenseSet<Value> values;           ///< also the results of loops and branches
};

/// Copies what is needed into a new body of the kernel, which raises the flag
/// as often as the other kernel does: so the host knows how often that has run.
class KernelSlice {
public:
  KernelSlice(const Needed &needed, ArrayRef<scf::IfOp> roots, StringRef check)
      : needed(needed), check(check) {
    this->roots.insert_range(roots);
  }
  void build(tt::FuncOp kernel);

private:
  void copy(Block &block, OpBuilder &b);
  void copy(scf::ForOp loop, OpBuilder &b);
  void copy(scf::IfOp branch, OpBuilder &b);
  SmallVector<unsigned> resultsOf(Operation *op) const;
  void copyYield(Block &from, ArrayRef<unsigned> results, OpBuilder &b);

  const Needed &needed;
  StringRef check;
  DenseSet<Operation *> roots;
  IRMapping copies;
};
} // namespace

/// Adds a loop or a branch, with what decides whether and how often it runs.
bool Needed::control(Operation *op) {
  if (isa<tt::FuncOp>(op) || operations.contains(op))
    return true;
  if (!isa<scf::ForOp, scf::IfOp>(op))
    return false;
  operations.insert(op);
  unsigned bounds = isa<scf::ForOp>(op) ? 3 : 1;
  return llvm::all_of(op->getOperands().take_front(bounds),
                      [&](Value operand) { return value(operand); }) &&
         control(op->getParentOp());
}

bool Needed::value(Value needed) {
  if (!values.insert(needed).second)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(needed)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || argument == loop.getInductionVar())
      return control(parent);
    return value(loop.getTiedLoopResult(argument));
  }
  auto result = cast<OpResult>(needed);
  unsigned i = result.getResultNumber();
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return control(op) && value(loop.getInitArgs()[i]) &&
           value(loop.getYieldedValues()[i]) && value(loop.getRegionIterArg(i));
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return control(op) && value(branch.thenYield().getOperand(i)) &&
           value(branch.elseYield().getOperand(i));
  if (!isRepeatable(op))
    return false;
  operations.insert(op);
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return control(op->getParentOp()) &&
         llvm::all_of(used, [&](Value operand) { return value(operand); });
}

bool Needed::branch(scf::IfOp root) {
  SetVector<Value> used;
  getUsedValuesDefinedAbove(root->getRegions(), used);
  used.insert(root.getCondition());
  auto reads = root->walk([](tt::LoadOp) { return WalkResult::interrupt(); });
  return !reads.wasInterrupted() && control(root->getParentOp()) &&
         llvm::all_of(used, [&](Value operand) { return value(operand); });
}

SmallVector<unsigned> KernelSlice::resultsOf(Operation *op) const {
  SmallVector<unsigned> found;
  for (OpResult result : op->getResults())
    if (needed.values.contains(result))
      found.push_back(result.getResultNumber());
  return found;
}

void KernelSlice::copyYield(Block &from, ArrayRef<unsigned> results,
                            OpBuilder &b) {
  if (results.empty()) // the builder of the operation has added one
    return;
  Operation *yield = from.getTerminator();
  SmallVector<Value> values;
  for (unsigned i : results)
    values.push_back(copies.lookup(yield->getOperand(i)));
  scf::YieldOp::create(b, yield->getLoc(), values);
}

void KernelSlice::copy(scf::ForOp loop, OpBuilder &b) {
  SmallVector<unsigned> results = resultsOf(loop);
  SmallVector<Value> starts;
  for (unsigned i : results)
    starts.push_back(copies.lookup(loop.getInitArgs()[i]));
  auto made =
      scf::ForOp::create(b, loop.getLoc(), copies.lookup(loop.getLowerBound()),
                         copies.lookup(loop.getUpperBound()),
                         copies.lookup(loop.getStep()), starts);
  made.setUnsignedCmp(loop.getUnsignedCmp());
  copies.map(loop.getInductionVar(), made.getInductionVar());
  for (auto [place, i] : llvm::enumerate(results)) {
    copies.map(loop.getRegionIterArg(i), made.getRegionIterArg(place));
    copies.map(loop.getResult(i), made.getResult(place));
  }
  auto inside = OpBuilder::atBlockBegin(made.getBody());
  copy(*loop.getBody(), inside);
  copyYield(*loop.getBody(), results, inside);
}

void KernelSlice::copy(scf::IfOp branch, OpBuilder &b) {
  SmallVector<unsigned> results = resultsOf(branch);
  SmallVector<Type> types;
  for (unsigned i : results)
    types.push_back(branch.getResultTypes()[i]);
  auto made = scf::IfOp::create(b, branch.getLoc(), types,
                                copies.lookup(branch.getCondition()),
                                /*withElseRegion=*/bool(branch.elseBlock()));
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), made->getRegions())) {
    if (from.empty())
      continue;
    auto inside = OpBuilder::atBlockBegin(&to.front());
    copy(from.front(), inside);
    copyYield(from.front(), results, inside);
  }
  for (auto [place, i] : llvm::enumerate(results))
    copies.map(branch.getResult(i), made.getResult(place));
}

void KernelSlice::copy(Block &block, OpBuilder &b) {
  for (Operation &op : block.without_terminator()) {
    if (roots.contains(&op)) {
      Value isOut = copies.lookup(cast<scf::IfOp>(op).getCondition());
      probe::RaiseOp::create(b, op.getLoc(), isOut, check);
      b.clone(op, copies);
    } else if (!needed.operations.contains(&op)) {
      continue;
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      copy(loop, b);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      copy(branch, b);
    } else {
      b.clone(op, copies);
    }
  }
}

void KernelSlice::build(tt::FuncOp kernel) {
  Block &old = kernel.front();
  Block &body = kernel.getBody().emplaceBlock();
  for (BlockArgument argument : old.getArguments())
    copies.map(argument,
               body.addArgument(argument.getType(), argument.getLoc()));
  auto b = OpBuilder::atBlockEnd(&body);
  copy(old, b);
  b.clone(*old.getTerminator());
  old.dropAllReferences();
  old.erase();
}

/// Whether the host can launch the kernel again when the launch's tensors may
/// be gone: it then has addresses in their place, but no descriptors.
static bool isPlain(tt::FuncOp kernel) {
  return kernel.getBody().hasOneBlock() &&
         kernel.front().getTerminator()->getNumOperands() == 0 &&
         llvm::all_of(kernel.getArguments(), [](BlockArgument argument) {
           auto named = dyn_cast<NameLoc>(argument.getLoc());
           return isa<IntegerType, FloatType, tt::PointerType>(
                      argument.getType()) &&
                  !(named && named.getName().strref().contains('.'));
         });
}

/// Moves `raise` before the first loop of its block on which it does not
/// depend. The corners are then not alive in the loop, nor at the same time as
/// those that the loop checks: when this was written, a matmul took 109
/// registers instead of 144, and two programs fit on a multiprocessor.
static void moveBeforeLoops(probe::RaiseOp raise) {
  Block *block = raise->getBlock();
  auto isMovable = [&](Operation *op) {
    return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  };
  SetVector<Operation *> slice;
  Operation *last = nullptr; // of those that stay where they are
  SmallVector<Operation *> worklist = {raise};
  while (!worklist.empty())
    for (Value operand : worklist.pop_back_val()->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || op->getBlock() != block)
        continue;
      if (!isMovable(op)) {
        if (!last || last->isBeforeInBlock(op))
          last = op;
      } else if (slice.insert(op)) {
        worklist.push_back(op);
      }
    }
  Operation *loop = last ? last->getNextNode() : &block->front();
  while (loop != raise && !isa<LoopLikeOpInterface>(loop))
    loop = loop->getNextNode();
  if (loop == raise)
    return;
  SmallVector<Operation *> moved = llvm::filter_to_vector(
      slice, [&](Operation *op) { return loop->isBeforeInBlock(op); });
  llvm::sort(moved, [](Operation *one, Operation *other) {
    return one->isBeforeInBlock(other);
  });
  for (Operation *op : moved)
    op->moveBefore(loop);
  raise->moveBefore(loop);
}

SmallVector<scf::IfOp>
mlir::triton_ext::sanitizer::setApart(ArrayRef<scf::IfOp> branches, Looks looks,
                                      tt::FuncOp kernel, StringRef check) {
  if (looks == Looks::Inline || !isPlain(kernel))
    return SmallVector<scf::IfOp>(branches);
  Needed needed;
  SmallVector<scf::IfOp> apart, left;
  for (scf::IfOp branch : branches) {
    Needed own = needed;
    if (own.branch(branch)) {
      needed = std::move(own);
      apart.push_back(branch);
    } else {
      left.push_back(branch);
    }
  }
  if (looks == Looks::Only) {
    KernelSlice(needed, apart, check).build(kernel);
    return {};
  }
  for (scf::IfOp branch : apart) {
    ImplicitLocOpBuilder b(branch.getLoc(), branch);
    auto raise = probe::RaiseOp::create(b, branch.getCondition(), check);
    branch.erase();
    moveBeforeLoops(raise);
  }
  return left;
}
