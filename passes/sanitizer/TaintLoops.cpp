// SPDX-License-Identifier: Apache-2.0
//
// Gives loops and branches results for the taint of their results.

#include "Taint.h"

#include "analysis/Dimensions.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;

void Taint::rename(Value from, Value to) {
  if (values.erase(from))
    values.insert(to);
  if (dims.count(from)) {
    Dims known = dims.lookup(from);
    dims.erase(from);
    dims[to] = known;
  }
  for (Condition &one : conditions)
    for (View *view : {&one.bit, &one.lhs, &one.rhs})
      if (view->base == from)
        view->base = to;
}

void Taint::extend(scf::ForOp loop, Replacements &replaced) {
  SmallVector<unsigned> indices;
  unsigned count = loop.getNumResults();
  for (unsigned i = 0; i < count; ++i)
    if (values.contains(loop.getRegionIterArg(i)) ||
        values.contains(loop.getResult(i)))
      indices.push_back(i);
  if (indices.empty())
    return;
  IRRewriter rewriter(loop);
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> inits;
  SmallVector<Dims> widths;
  for (unsigned i : indices) {
    widths.push_back(dims.lookup(loop.getResult(i)));
    inits.push_back(constantOf(b,
                               compactType(loop.getContext(),
                                           analysis::shapeOf(loop.getResult(i)),
                                           widths.back()),
                               0));
  }
  SmallVector<Value> arguments(loop.getRegionIterArgs()),
      results(loop.getResults());
  Operation *old = loop; // only compared with, not used
  auto fresh = cast<scf::ForOp>(
      loop.replaceWithAdditionalYields(
              rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
              [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
                return SmallVector<Value>(added.begin(), added.end());
              })
          ->getOperation());
  replaced[old] = fresh;
  for (unsigned i = 0; i < count; ++i) {
    rename(arguments[i], fresh.getRegionIterArg(i));
    rename(results[i], fresh.getResult(i));
  }
  Operation *yield = fresh.getBody()->getTerminator();
  for (auto [j, i] : llvm::enumerate(indices)) {
    unsigned extra = count + j;
    known[fresh.getRegionIterArg(i)] = fresh.getRegionIterArg(extra);
    known[fresh.getResult(i)] = fresh.getResult(extra);
    unsigned first = fresh.getNumControlOperands();
    carried.push_back({fresh, first + extra, first + i, widths[j]});
    carried.push_back({yield, extra, i, widths[j]});
  }
}

void Taint::extend(scf::IfOp branch, Replacements &replaced) {
  SmallVector<unsigned> indices;
  SmallVector<Type> types(branch.getResultTypes());
  SmallVector<Dims> widths;
  unsigned count = branch.getNumResults();
  for (unsigned i = 0; i < count; ++i)
    if (values.contains(branch.getResult(i))) {
      indices.push_back(i);
      widths.push_back(dims.lookup(branch.getResult(i)));
      types.push_back(compactType(branch.getContext(),
                                  analysis::shapeOf(branch.getResult(i)),
                                  widths.back()));
    }
  if (indices.empty())
    return;
  ImplicitLocOpBuilder b(branch.getLoc(), branch);
  auto fresh = scf::IfOp::create(b, types, branch.getCondition(),
                                 /*withElseRegion=*/true);
  fresh->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  fresh.getThenRegion().takeBody(branch.getThenRegion());
  fresh.getElseRegion().takeBody(branch.getElseRegion());
  replaced[branch] = fresh;
  for (scf::YieldOp yield : {fresh.thenYield(), fresh.elseYield()}) {
    b.setInsertionPoint(yield);
    for (auto [j, i] : llvm::enumerate(indices)) {
      Value none = constantOf(b, types[count + j], 0);
      yield.getResultsMutable().append(none);
      carried.push_back({yield, unsigned(count + j), i, widths[j]});
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    rename(branch.getResult(i), fresh.getResult(i));
    branch.getResult(i).replaceAllUsesWith(fresh.getResult(i));
  }
  for (auto [j, i] : llvm::enumerate(indices))
    known[fresh.getResult(i)] = fresh.getResult(count + j);
  branch.erase();
}

void Taint::prepare(Replacements &replaced) {
  llvm::SetVector<Operation *> found;
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    if (isa<scf::ForOp, scf::IfOp>(op))
      found.insert(op);
  }
  // An operation that is replaced keeps the operations inside of it.
  for (Operation *op : found)
    if (auto loop = dyn_cast<scf::ForOp>(op))
      extend(loop, replaced);
    else
      extend(cast<scf::IfOp>(op), replaced);
}

void Taint::finish() {
  for (const Carried &one : carried) {
    Value value = one.op->getOperand(one.of);
    Value taint = of(value);
    if (!taint)
      continue;
    ImplicitLocOpBuilder b(one.op->getLoc(), one.op);
    one.op->setOperand(one.operand,
                       widened(b, taint, analysis::shapeOf(value), one.dims));
  }
}
