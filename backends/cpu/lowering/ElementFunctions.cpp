// SPDX-License-Identifier: Apache-2.0
//
// A function without loops and side effects is evaluated for a whole group of
// lanes: it computes both sides of each branch and selects. Any other function
// runs once for each lane, with real branches. The pass
// -triton-ext-structure-returns has already turned early returns into branches.

#include "ElementFunctions.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns whether all lanes may take every path: the region has no loop, no
/// side effect, and only scalar values.
static bool hasOnlySelectableBranches(Region &region) {
  for (Operation &op : region.front().without_terminator()) {
    if (llvm::any_of(op.getResultTypes(),
                     [](Type type) { return isa<RankedTensorType>(type); }))
      return false;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &inner : branch->getRegions())
        if (!inner.empty() && !hasOnlySelectableBranches(inner))
          return false;
      continue;
    }
    if (op.getNumRegions() || op.getNumResults() != 1 ||
        !isMemoryEffectFree(&op))
      return false;
  }
  return true;
}

static TypeRange returnTypes(Region &region) {
  return region.back().getTerminator()->getOperandTypes();
}

SmallVector<Lanes> ElementFunctions::apply(Region &region,
                                           ArrayRef<Lanes> arguments) {
  if (!region.hasOneBlock()) {
    context.error(region.getParentOp(),
                  "a loop of blocks inside of a function of "
                  "elements is not supported on the CPU");
    return SmallVector<Lanes>(arguments.take_front(returnTypes(region).size()));
  }
  if (!hasOnlySelectableBranches(region))
    return runForEachLane(region, arguments);
  LaneMap values;
  for (auto [argument, lanes] : llvm::zip(region.getArguments(), arguments))
    values[argument] = lanes;
  return selectPaths(region, values);
}

/// Evaluates both sides of every branch and selects results.
SmallVector<Lanes> ElementFunctions::selectPaths(Region &region,
                                                 LaneMap &values) {
  auto valuesOf = [&](Operation *op) {
    SmallVector<Lanes> result;
    for (Value operand : op->getOperands()) {
      auto it = values.find(operand);
      result.push_back(it != values.end()
                           ? it->second
                           : Lanes::uniform(context.scalar(operand)));
    }
    return result;
  };
  for (Operation &op : region.front().without_terminator()) {
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Lanes condition = valuesOf(branch)[0];
      SmallVector<Lanes> yes = selectPaths(branch.getThenRegion(), values), no;
      if (branch.elseBlock())
        no = selectPaths(branch.getElseRegion(), values);
      for (auto [i, result] : llvm::enumerate(branch.getResults()))
        values[result] = b.select(condition, yes[i], no[i]);
    } else if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
      values[op.getResult(0)] = elementwise.constant(constantOp);
    } else {
      values[op.getResult(0)] = elementwise.apply(&op, valuesOf(&op));
    }
  }
  return valuesOf(region.front().getTerminator());
}

/// Emits a loop over the lanes. It extracts the arguments of each lane from
/// vectors and inserts the results into vectors.
SmallVector<Lanes> ElementFunctions::runForEachLane(Region &region,
                                                    ArrayRef<Lanes> arguments) {
  int n = b.lanes();
  if (n == 1 || llvm::all_of(arguments, [](const Lanes &lanes) {
        return lanes.isUniform();
      })) {
    SmallVector<Value> scalarArgs = llvm::map_to_vector(
        arguments, [&](const Lanes &l) { return b.toScalar(l); });
    return llvm::map_to_vector(call(region, scalarArgs), [](Value value) {
      return Lanes::uniform(value);
    });
  }
  SmallVector<Value> vectors, results;
  for (const Lanes &lanes : arguments)
    vectors.push_back(b.toVector(lanes));
  for (Type type : returnTypes(region))
    results.push_back(
        LLVM::PoisonOp::create(b, VectorType::get(n, loweredType(type))));
  results = b.forLoop(0, n, 1, results, [&](Value lane, ValueRange carried) {
    SmallVector<Value> scalarArgs, next;
    for (Value vector : vectors)
      scalarArgs.push_back(LLVM::ExtractElementOp::create(b, vector, lane));
    for (auto [vector, value] : llvm::zip(carried, call(region, scalarArgs)))
      next.push_back(LLVM::InsertElementOp::create(b, vector, value, lane));
    return next;
  });
  return llvm::map_to_vector(results,
                             [](Value value) { return Lanes::vector(value); });
}

/// Emits the function's body with its branches, loops and effects.
SmallVector<Value> ElementFunctions::call(Region &region,
                                          ValueRange arguments) {
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    context.scalars[argument] = value;
  if (region.hasOneBlock())
    lowerBlock(region.front());
  else
    context.error(region.getParentOp(),
                  "a loop of blocks inside of a function of "
                  "elements is not supported on the CPU");
  SmallVector<Value> values;
  for (Value value : region.back().getTerminator()->getOperands())
    values.push_back(context.hasFailed() ? Value(LLVM::PoisonOp::create(
                                               b, loweredType(value.getType())))
                                         : context.scalars.lookup(value));
  return values;
}
