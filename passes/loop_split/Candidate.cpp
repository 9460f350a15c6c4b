// SPDX-License-Identifier: Apache-2.0
//
// Chooses the place where a loop is split next.

#include "Candidate.h"

#include "Work.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::loop_split;

std::optional<Candidate> loop_split::choose(ArrayRef<Condition> conditions,
                                            bool noWrap, bool falseMasks) {
  for (bool wanted : {true, false}) {
    // With `no-wrap`, as in code split by hand: the place where a mask becomes
    // true comes before the place where it becomes false again.
    SmallVector<const Condition *> order;
    for (Side side : {Side::Tail, Side::Lead})
      for (const Condition &condition : conditions)
        if (side == (noWrap ? condition.sideOf(wanted) : Side::Lead))
          order.push_back(&condition);
    for (const Condition *condition : order) {
      arith::CmpIOp op = condition->op;
      if (!wanted && !(condition->hasTail() && falseMasks))
        continue;
      Candidate result;
      result.side = condition->sideOf(wanted);
      if (isDone(op, result.side) || !decidesAboutWork(op.getResult()))
        continue;
      for (const Condition &other : conditions)
        if (!isDone(other.op, result.side) && other.changesWith(*condition))
          result.conditions.push_back(other);
      return result;
    }
  }
  return std::nullopt;
}
