// SPDX-License-Identifier: Apache-2.0
//
// Functions that are applied to elements: combine functions of reductions and
// scans, and what tl.map_elementwise maps. A combine function without loops and
// side effects takes both sides of its branches for a whole group of lanes and
// selects; any other one runs for each lane, with real branches. Early returns
// have become branches before (-triton-ext-structure-returns).

#include "Lowering.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Whether all lanes may take every path: no loop, no side effect, and nothing
/// but scalars.
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

Lanes Lowering::select(const Lanes &condition, const Lanes &yes,
                       const Lanes &no) {
  if (condition.isUniform() && yes.isUniform() && no.isUniform())
    return Lanes::uniform(
        arith::SelectOp::create(b, condition.base, yes.base, no.base));
  Value choice = condition.isUniform() ? condition.base : toVector(condition);
  return Lanes::vector(
      arith::SelectOp::create(b, choice, toVector(yes), toVector(no)));
}

SmallVector<Lanes> Lowering::evalRegion(Region &region, ArrayRef<Lanes> args) {
  if (!region.hasOneBlock()) {
    error(region.getParentOp(), "a loop of blocks inside of a function of "
                                "elements is not supported on the CPU");
    return SmallVector<Lanes>(args.take_front(returnTypes(region).size()));
  }
  if (!hasOnlySelectableBranches(region))
    return runForEachLane(region, args);
  LaneMap values;
  for (auto [argument, lanes] : llvm::zip(region.getArguments(), args))
    values[argument] = lanes;
  return selectPaths(region, values);
}

/// Evaluates both sides of every branch and selects.
SmallVector<Lanes> Lowering::selectPaths(Region &region, LaneMap &values) {
  auto valuesOf = [&](Operation *op) {
    SmallVector<Lanes> result;
    for (Value operand : op->getOperands()) {
      auto it = values.find(operand);
      result.push_back(it != values.end() ? it->second : eval(operand, {}));
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
        values[result] = select(condition, yes[i], no[i]);
    } else if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
      values[op.getResult(0)] = evalConstant(constantOp, {});
    } else {
      values[op.getResult(0)] = elementwise(&op, valuesOf(&op));
    }
  }
  return valuesOf(region.front().getTerminator());
}

/// A loop over the lanes, which takes each one's arguments out of the vectors
/// and puts its results in.
SmallVector<Lanes> Lowering::runForEachLane(Region &region,
                                            ArrayRef<Lanes> args) {
  int n = scope->lanes;
  if (n == 1 || llvm::all_of(args, [](const Lanes &lanes) {
        return lanes.isUniform();
      })) {
    SmallVector<Value> scalarArgs =
        llvm::map_to_vector(args, [&](const Lanes &l) { return toScalar(l); });
    return llvm::map_to_vector(callRegion(region, scalarArgs), [](Value value) {
      return Lanes::uniform(value);
    });
  }
  SmallVector<Value> vectors, results;
  for (const Lanes &lanes : args)
    vectors.push_back(toVector(lanes));
  for (Type type : returnTypes(region))
    results.push_back(
        LLVM::PoisonOp::create(b, VectorType::get(n, convert(type))));
  results = forLoop(0, n, 1, results, [&](Value lane, ValueRange carried) {
    SmallVector<Value> scalarArgs, next;
    for (Value vector : vectors)
      scalarArgs.push_back(LLVM::ExtractElementOp::create(b, vector, lane));
    for (auto [vector, value] :
         llvm::zip(carried, callRegion(region, scalarArgs)))
      next.push_back(LLVM::InsertElementOp::create(b, vector, value, lane));
    return next;
  });
  return llvm::map_to_vector(results,
                             [](Value value) { return Lanes::vector(value); });
}

TypeRange Lowering::returnTypes(Region &region) {
  return region.back().getTerminator()->getOperandTypes();
}

/// Emits the function's body for scalars, branches, loops and effects as they
/// stand.
SmallVector<Value> Lowering::callRegion(Region &region, ValueRange args) {
  for (auto [argument, value] : llvm::zip(region.getArguments(), args))
    scalars[argument] = value;
  if (region.hasOneBlock())
    lowerBlock(region.front());
  else
    error(region.getParentOp(), "a loop of blocks inside of a function of "
                                "elements is not supported on the CPU");
  SmallVector<Value> values;
  for (Value value : region.back().getTerminator()->getOperands())
    values.push_back(
        hasFailed ? Value(LLVM::PoisonOp::create(b, convert(value.getType())))
                  : scalars.lookup(value));
  return values;
}

/// Element by element, `pack` of them at a time in row-major order.
void Lowering::lowerMap(triton::MapElementwiseOp op) {
  int64_t pack = op.getPack();
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  if (total % pack) {
    error(op, "packs of " + Twine(pack) +
                  " elements do not divide a tensor of " + Twine(total) +
                  " (use a power of two, at most that)");
    return;
  }
  SmallVector<Buffer> targets;
  for (Value result : op.getResults())
    targets.push_back(allocate(convert(result.getType()), shape));
  // The same function for each group; its arguments are the first operand's
  // elements, then the second one's, and its results likewise.
  auto apply = [&](ArrayRef<Coords> places) {
    SmallVector<Value> arguments;
    for (Value src : op.getSrcs())
      for (const Coords &at : places)
        arguments.push_back(toScalar(eval(src, at)));
    SmallVector<Value> values = callRegion(op.getScalarOp(), arguments);
    for (auto [i, target] : llvm::enumerate(targets))
      for (auto [j, at] : llvm::enumerate(places))
        storeBuffer(target, at, Lanes::uniform(values[i * pack + j]));
  };
  forLoop(0, total, pack, ValueRange(),
          [&](Value first, ValueRange) -> SmallVector<Value> {
            withScope(1, [&] {
              std::vector<Coords> places;
              for (int64_t j = 0; j < pack; ++j) {
                Value rest = b.createOrFold<arith::AddIOp>(
                    first, constant(first.getType(), j));
                Coords at(shape.size());
                for (int i = shape.size() - 1; i >= 0; --i) {
                  Value size = constant(first.getType(), shape[i]);
                  at[i] = Lanes::uniform(
                      b.createOrFold<arith::RemUIOp>(rest, size));
                  rest = b.createOrFold<arith::DivUIOp>(rest, size);
                }
                places.push_back(at);
              }
              apply(places);
            });
            return {};
          });
  for (auto [result, target] : llvm::zip(op.getResults(), targets))
    buffers[result] = target;
}
