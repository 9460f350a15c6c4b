// SPDX-License-Identifier: Apache-2.0
//
// The flag of a launch slot in kernels with loops, as assembly of NVIDIA at the
// kernel's end, so that the loops stay as they are without checks: with
// comparisons in a loop, ptxas does not unroll it, and the loads of an
// iteration wait for those of the one before. A loop that carries a bit,
// whether a condition was true in one of its iterations, loses the bit, and
// each thread of the first warp computes the condition of other iterations.

#include "Emitter.h"
#include "Layout.h"
#include "Ptx.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;

/// The threads of a warp.
static constexpr int64_t kThreads = 32;

namespace {
/// A loop whose result is true if one of some terms is true in an iteration.
struct Iterations {
  static std::optional<Iterations> of(RaiseOp op);

  scf::ForOp loop;
  unsigned bit; ///< the number of the result
  int64_t step;
  SmallVector<Value> terms;
};
} // namespace

/// Appends the terms of a disjunction but for `bit`. Returns whether that is
/// one of them. A disjunction that something else uses is a term.
static bool addTerms(Value value, Value bit, SmallVector<Value> &terms) {
  if (value == bit)
    return true;
  auto either = value.getDefiningOp<arith::OrIOp>();
  if (either && either->hasOneUse()) {
    bool isLeft = addTerms(either.getLhs(), bit, terms);
    return addTerms(either.getRhs(), bit, terms) || isLeft;
  }
  terms.push_back(value);
  return false;
}

std::optional<Iterations> Iterations::of(RaiseOp op) {
  auto result = dyn_cast<OpResult>(op.getCondition());
  auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp();
  if (!loop || loop->getParentOp() != op->getParentOp() ||
      !result.hasOneUse() || loop.getUnsignedCmp() ||
      !loop.getInductionVar().getType().isInteger(32))
    return {};
  APInt step;
  unsigned bit = result.getResultNumber();
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
      !step.isStrictlyPositive() ||
      !matchPattern(loop.getInitArgs()[bit], m_Zero()) ||
      !loop.getRegionIterArg(bit).hasOneUse())
    return {};
  Iterations found{loop, bit, step.getSExtValue(), {}};
  if (!addTerms(loop.getYieldedValues()[bit], loop.getRegionIterArg(bit),
                found.terms) ||
      found.terms.empty())
    return {};
  return found;
}

/// Returns whether each iteration computes the same value.
static bool isSame(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && !op->getNumRegions() &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isSame(operand, loop); });
}

/// Returns what each iteration adds to an integer that the loop carries; null
/// if that is not the same number.
static Value addedTo(BlockArgument argument, scf::ForOp loop) {
  auto add = loop.getTiedLoopYieldedValue(argument)
                 ->get()
                 .getDefiningOp<arith::AddIOp>();
  if (!add || (add.getLhs() != argument && add.getRhs() != argument))
    return {};
  Value added = add.getLhs() == argument ? add.getRhs() : add.getLhs();
  return isSame(added, loop) ? added : Value();
}

/// Names the value that `argument` has after `turn` iterations.
static std::string carried(BlockArgument argument, scf::ForOp loop, Ptx &ptx) {
  Type type = argument.getType();
  if (argument.getOwner() != loop.getBody() ||
      !(type.isInteger(32) || type.isInteger(64)))
    return "";
  Value added = addedTo(argument, loop);
  if (!added)
    return "";
  std::string turns = "turn", width = type.isInteger(32) ? "32" : "64";
  if (type.isInteger(32))
    turns = ptx.compute(type, "cvt.u32.u64", {turns});
  std::string all =
      ptx.compute(type, "mul.lo.s" + width, {turns, ptx.of(added)});
  return ptx.compute(type, "add.s" + width,
                     {all, ptx.of(loop.getTiedLoopInit(argument)->get())});
}

/// Stops to compute the bit, and what the loop carries only for it.
static void forget(const Iterations &its) {
  scf::ForOp loop = its.loop;
  auto keep = [&](unsigned i) {
    Value before = loop.getYieldedValues()[i];
    loop.getBody()->getTerminator()->setOperand(i, loop.getRegionIterArg(i));
    eraseDead(before, /*keepsProbes=*/true);
  };
  keep(its.bit);
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!argument.getType().isInteger() || !argument.hasOneUse() ||
        !loop.getResult(i).use_empty() || !addedTo(argument, loop))
      continue;
    Operation *add = *argument.user_begin();
    if (add->hasOneUse() &&
        *add->user_begin() == loop.getBody()->getTerminator())
      keep(i);
  }
}

/// Raises the flag in threads for which the predicate q is on.
void Emitter::raiseIf(Ptx &ptx) {
  ptx.line("mov.b64 k, 1;");
  ptx.line("@q red.relaxed.gpu.global.add.u64 [slot+" + Twine(8 * flagWord()) +
           "], k;");
}

/// Raises the flag for the iterations of a loop, at the kernel's end. Returns
/// whether it could. A program is counted once, as it is if the loop carries
/// the bit: the host compares the flags of two kernels.
bool Emitter::raiseOfLoop(RaiseOp op) {
  std::optional<Iterations> its = Iterations::of(op);
  if (!its)
    return false;
  scf::ForOp loop = its->loop;
  Ptx ptx(b, 1);
  ptx.line("mov.b32 $0, 0;");
  ptx.line(".reg .b64 turn, at; .reg .b32 i, thread; .reg .pred any;");
  ptx.line("mov.u32 thread, %tid.x;");
  ptx.line("setp.ge.u32 q, thread, " + Twine(kThreads) + ";");
  ptx.line("@q bra END;");
  ptx.line("mov.b32 l, thread;");
  ptx.line("setp.ne.u32 any, l, l;");
  ptx.line("cvt.u64.u32 turn, l;");
  std::string lower = ptx.wide(loop.getLowerBound()),
              upper = ptx.wide(loop.getUpperBound());
  ptx.line("NEXT:");
  ptx.line("mul.lo.s64 at, turn, " + Twine(its->step) + ";");
  ptx.line("add.s64 at, at, " + lower + ";");
  ptx.line("setp.ge.s64 q, at, " + upper + ";");
  ptx.line("@q bra DONE;");
  ptx.line("cvt.u32.u64 i, at;");
  ptx.readWords(ptx.operand(own));
  ptx.setArguments([&](BlockArgument argument) {
    return argument == loop.getInductionVar() ? "i"
                                              : carried(argument, loop, ptx);
  });
  for (Value term : its->terms) {
    std::string one = ptx.of(term);
    ptx.line("and.pred q, p, " + one + ";");
    ptx.line("or.pred any, any, q;");
  }
  ptx.line("add.s64 turn, turn, " + Twine(kThreads) + ";");
  ptx.line("bra NEXT;");
  ptx.line("DONE:");
  // The first thread has found the slot if there is an iteration.
  ptx.line("vote.sync.any.pred any, any, -1;");
  ptx.line("setp.eq.and.u32 q, thread, 0, any;");
  raiseIf(ptx);
  ptx.line("END:");
  if (!llvm::all_of(ptx.getOperands(), [&](Value operand) {
        return loop.isDefinedOutsideOfLoop(operand);
      }))
    return false;
  ptx.build({b.getI32Type()});
  op.getConditionMutable().assign(truth(false));
  forget(*its);
  return true;
}

/// Raises the flag for conditions outside of loops, at the kernel's end.
void Emitter::raiseAtEnd(ArrayRef<RaiseOp> raises) {
  Ptx ptx(b, 1);
  ptx.line("mov.b32 $0, 0;");
  ptx.line("mov.u32 l, %tid.x;");
  ptx.line("setp.ne.u32 p, l, 0;");
  ptx.line("@p bra DONE;");
  ptx.readWords(ptx.operand(own));
  for (RaiseOp op : raises) {
    ptx.line("and.pred q, p, " + ptx.of(op.getCondition()) + ";");
    raiseIf(ptx);
  }
  ptx.line("DONE:");
  ptx.build({b.getI32Type()});
  for (RaiseOp op : raises) {
    Value condition = op.getCondition();
    op.getConditionMutable().assign(truth(false));
    eraseDead(condition, /*keepsProbes=*/true);
  }
}

/// Moves raises of the kernel's body to its end if there is a loop. Leaves
/// those of other loops in `raises`, and all of a kernel with so many arguments
/// that without a slot a launch word may be outside of the scratch memory.
void Emitter::raiseBehindLoops(SmallVector<RaiseOp> &raises) {
  Block &body = kernel.getBody().front();
  if (body.getOps<scf::ForOp>().empty() ||
      8 * (kSlotHead + kArgumentWords * kernel.getNumArguments()) > kSlotStride)
    return;
  b.setInsertionPoint(body.getTerminator());
  auto isOfLoop = [](RaiseOp op) {
    return isa_and_nonnull<LoopLikeOpInterface>(
        op.getCondition().getDefiningOp());
  };
  SmallVector<RaiseOp> others, left;
  for (RaiseOp op : raises) {
    if (!isOfLoop(op))
      others.push_back(op);
    else if (!raiseOfLoop(op))
      left.push_back(op);
  }
  if (!others.empty())
    raiseAtEnd(others);
  raises = left;
}
