// SPDX-License-Identifier: Apache-2.0
//
// Makes branches yield the numbers of tensors that they return. Leaves alone
// the results that analyses can follow into both arms.

#include "Branches.h"
#include "Forms.h"
#include "StridedNumbers.h"

using namespace mlir;
using namespace mlir::triton_ext::carry_strides;

namespace {
/// A result, and its numbers in both arms.
struct Yielded {
  unsigned index;
  Form form;
  SmallVector<Value> yes, no;
};
} // namespace

/// Finds the numbers of a result in both arms, in the first form that it has.
static std::optional<Yielded> findInArms(scf::IfOp branch, unsigned index) {
  auto type = cast<RankedTensorType>(branch.getResult(index).getType());
  scf::YieldOp thenEnd = branch.thenYield(), elseEnd = branch.elseYield();
  Value yes = thenEnd.getOperand(index), no = elseEnd.getOperand(index);
  OpBuilder inThen(thenEnd), inElse(elseEnd);
  Form form{type};
  noteGathers(form, yes, inThen);
  noteGathers(form, no, inElse);
  do {
    if (!findRest(yes, form, &branch.getThenRegion(), inThen))
      continue;
    auto left = findNumbers(yes, form, inThen);
    auto right = left ? findNumbers(no, form, inElse) : std::nullopt;
    if (right)
      return Yielded{index, form, *left, *right};
  } while (toNextForm(form, yes, inThen) || toNextForm(form, no, inElse));
  return std::nullopt;
}

void mlir::triton_ext::carry_strides::yieldNumbers(scf::IfOp branch) {
  OpBuilder b(branch);
  b.setInsertionPointAfter(branch);
  SmallVector<Yielded> found;
  SmallVector<Type> types(branch.getResultTypes());
  for (OpResult result : branch.getResults()) {
    if (!isCarriable(result.getType()) || result.use_empty() ||
        isTracked(result, b))
      continue;
    auto yielded = findInArms(branch, result.getResultNumber());
    if (!yielded)
      continue;
    llvm::append_range(types, numberTypes(yielded->form));
    found.push_back(std::move(*yielded));
  }
  if (found.empty())
    return;
  for (const Yielded &yielded : found) {
    branch.thenYield().getResultsMutable().append(yielded.yes);
    branch.elseYield().getResultsMutable().append(yielded.no);
  }
  b.setInsertionPoint(branch);
  auto extended = scf::IfOp::create(b, branch.getLoc(), types,
                                    branch.getCondition(), /*withElse=*/true);
  extended->setAttrs(branch->getAttrs());
  extended.getThenRegion().takeBody(branch.getThenRegion());
  extended.getElseRegion().takeBody(branch.getElseRegion());
  b.setInsertionPointAfter(extended);
  SmallVector<Value> results(
      extended.getResults().take_front(branch.getNumResults()));
  ValueRange numbers = extended.getResults().drop_front(results.size());
  for (const Yielded &yielded : found) {
    unsigned count = countNumbers(yielded.form);
    results[yielded.index] =
        rebuild(yielded.form, numbers.take_front(count), b, branch.getLoc());
    numbers = numbers.drop_front(count);
  }
  branch.replaceAllUsesWith(results);
  branch.erase();
}
