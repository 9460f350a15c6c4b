// SPDX-License-Identifier: Apache-2.0
//
// Prints the claims of LoopSplit about loops.

#include "Names.h"

#if __has_include("loop_split/Condition.h")
#include "loop_split/Condition.h"
#include "loop_split/Known.h"
#endif

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::print_claims;
namespace tt = mlir::triton;

/// M: a power of two that divides the value. L: two values, the first of which
/// is at most the second. S: a loop, a value in it, and the value's recurrence.
/// C: a condition.
void print_claims::printLoops(ModuleOp module, ArrayRef<Value> values,
                              const Names &names, raw_ostream &os) {
#if __has_include("loop_split/Condition.h")
  using namespace mlir::triton_ext::loop_split;
  SmallVector<Value> scalars;
  for (Value value : values)
    if (bitWidth(value.getType()) > 1)
      scalars.push_back(value);
  for (Value value : scalars) {
    unsigned width = bitWidth(value.getType());
    for (unsigned bits = std::min(width - 1, 10u); bits > 0; --bits)
      if (isMultipleOf(value, APInt::getOneBitSet(width, bits))) {
        os << "M " << names.lookup(value) << " " << bits << "\n";
        break;
      }
  }
  for (auto function : module.getOps<tt::FuncOp>()) {
    DominanceInfo dominance(function);
    SmallVector<Value> own;
    for (Value value : scalars)
      if (function->isAncestor(value.getParentBlock()->getParentOp()))
        own.push_back(value);
    auto isBefore = [&](Value first, Value second) {
      Operation *op = second.getDefiningOp();
      if (!op) {
        auto argument = cast<BlockArgument>(second);
        op = &argument.getOwner()->front();
        return first.getParentBlock() != argument.getOwner() &&
               dominance.properlyDominates(first, op);
      }
      return dominance.properlyDominates(first, op);
    };
    auto isConstant = [](Value value) {
      return matchPattern(value, m_Constant());
    };
    for (Value lhs : own)
      for (Value rhs : own)
        if (lhs != rhs && !(isConstant(lhs) && isConstant(rhs)) &&
            lhs.getType() == rhs.getType() &&
            (isBefore(lhs, rhs) || isBefore(rhs, lhs)) && isAtMost(lhs, rhs))
          os << "L " << names.lookup(lhs) << " " << names.lookup(rhs) << " "
             << isBefore(lhs, rhs) << "\n";
  }
  auto print = [&](const AffineForm &form) {
    os << " " << text(form.constant) << " " << text(form.spread, false) << " "
       << form.terms.size();
    for (auto &[term, factor] : form.terms)
      os << " " << names.lookup(term) << " " << text(factor);
  };
  auto printRecurrence = [&](scf::ForOp loop, Value value,
                             const Recurrence &found) {
    if (!found.affine && !found.views[0].exact && !found.views[1].exact)
      return;
    os << "S " << lineOf(loop) << " " << names.lookup(value) << " "
       << found.affine << " " << text(found.slope);
    for (const Recurrence::View &view : found.views) {
      os << " " << view.exact;
      if (view.exact)
        os << " " << text(view.low) << " " << text(view.high);
      else
        os << " 0 0";
    }
    os << "\n";
  };
  module.walk([&](scf::ForOp loop) {
    ConditionAnalysis analysis(loop);
    RecurrenceAnalysis recurrences(loop);
    loop.getBody()->walk([&](Operation *op) {
      for (Value value : op->getResults())
        if (bitWidth(value.getType()) != 0)
          for (bool trustsFlags : {false, true})
            printRecurrence(loop, value, recurrences.get(value, trustsFlags));
      auto compare = dyn_cast<arith::CmpIOp>(op);
      StringRef reason;
      auto condition = compare ? analysis.get(compare, reason) : std::nullopt;
      if (!condition)
        return;
      os << "C " << lineOf(loop) << " " << lineOf(op) << " "
         << names.lookup(compare.getLhs()) << " "
         << names.lookup(compare.getRhs()) << " " << condition->swapped << " "
         << (condition->increasing ? "" : "-") << text(condition->slope, false)
         << " " << condition->isUnsigned << " " << condition->exact;
      print(condition->lhs);
      print(condition->rhs);
      os << "\n";
    });
  });
#endif
}
