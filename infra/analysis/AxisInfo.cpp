// SPDX-License-Identifier: Apache-2.0
//
// Facts along dimensions, and how they flow through a function.

#include "analysis/AxisInfo.h"
#include "analysis/AxisTransfer.h"
#include "analysis/InferAxisInfo.h"

#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

//===----------------------------------------------------------------------===//
// Axis and AxisInfo
//===----------------------------------------------------------------------===//

int64_t Axis::divisibilityOfAll() const {
  return std::min(divisibility, divisorOf(strideValue));
}

Axis Axis::refined(int64_t smaller) const {
  if (smaller == stride)
    return *this;
  // The first element of a new group is the first element of an old one plus a
  // multiple of `smaller` times the stride value, so what divides both divides
  // it.
  int64_t step = 0;
  int64_t divisor =
      llvm::MulOverflow(smaller, strideValue, step)
          ? multiplyDivisors(divisorOf(smaller), divisorOf(strideValue))
          : divisorOf(step);
  return {std::min(divisibility, divisor), smaller,
          smaller == 1 ? 0 : strideValue};
}

static Axis joinAxes(const Axis &a, const Axis &b) {
  int64_t stride =
      a.strideValue == b.strideValue ? std::gcd(a.stride, b.stride) : 1;
  Axis result = a.refined(stride);
  result.divisibility =
      std::min(result.divisibility, b.refined(stride).divisibility);
  return result;
}

AxisInfo AxisInfo::unknown(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  AxisInfo info;
  info.axes.resize(tensor ? std::max<int64_t>(1, tensor.getRank()) : 1);
  return info;
}

AxisInfo AxisInfo::ofConstant(Type type, const APInt &constant) {
  AxisInfo info = unknown(type);
  info.constant = constant;
  info.isNonNegative = constant.isNonNegative();
  for (Axis &axis : info.axes)
    axis.divisibility = divisorOf(constant);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (auto [axis, size] : llvm::zip(info.axes, tensor.getShape()))
      axis.stride = size;
  return info;
}

int64_t AxisInfo::divisibilityOfAll() const {
  int64_t result = 1;
  for (const Axis &axis : axes)
    result = std::max(result, axis.divisibilityOfAll());
  return result;
}

AxisInfo AxisInfo::join(const AxisInfo &a, const AxisInfo &b) {
  if (!a.isKnown() || !b.isKnown())
    return a.isKnown() ? a : b;
  AxisInfo result;
  for (auto [x, y] : llvm::zip_equal(a.axes, b.axes))
    result.axes.push_back(joinAxes(x, y));
  if (a.constant && b.constant && *a.constant == *b.constant)
    result.constant = a.constant;
  result.isNonNegative = a.isNonNegative && b.isNonNegative;
  return result;
}

void AxisInfo::print(raw_ostream &os) const {
  if (!isKnown()) {
    os << "never computed";
    return;
  }
  auto list = [&](StringRef name, auto get) {
    os << name << " [";
    llvm::interleaveComma(axes, os, [&](const Axis &axis) { os << get(axis); });
    os << "]";
  };
  list("divisibility", [](const Axis &axis) { return axis.divisibility; });
  list(", stride", [](const Axis &axis) { return axis.stride; });
  list(", stride value", [](const Axis &axis) { return axis.strideValue; });
  list(", constancy", [](const Axis &axis) { return axis.constancy(); });
  if (constant) {
    os << ", constant value ";
    // A bit is printed as 0 or 1, not as -1.
    constant->print(os, /*isSigned=*/constant->getBitWidth() != 1);
  }
  if (isNonNegative)
    os << ", not negative";
}

//===----------------------------------------------------------------------===//
// The analysis
//===----------------------------------------------------------------------===//

/// Returns the numbers in an attribute, one for each dimension, as divisors;
/// nothing if the attribute has another number of dimensions.
static SmallVector<int64_t> getHint(Attribute attribute, size_t rank) {
  SmallVector<int64_t> result;
  if (auto number = dyn_cast_if_present<IntegerAttr>(attribute)) {
    result.assign(rank, number.getInt());
  } else if (auto numbers =
                 dyn_cast_if_present<DenseIntElementsAttr>(attribute)) {
    if (numbers.getNumElements() == int64_t(rank))
      for (const APInt &number : numbers.getValues<APInt>())
        result.push_back(number.getSExtValue());
  }
  for (int64_t &number : result)
    number = number > 0 ? divisorOf(number) : 1;
  return result;
}

/// Adds the facts that the attributes found by `get` promise. tt.contiguity and
/// tt.constancy count only if `allOver`, which says that they hold for all
/// elements. On arguments, they do.
static void addHints(AxisInfo &info, Type type, bool allOver,
                     function_ref<Attribute(StringRef)> get) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t step = 1;
  if (isa<tt::PointerType>(getElementTypeOrSelf(type)))
    step = bytesOfPointee(type);
  auto hint = [&](StringRef name) {
    return getHint(get(name), info.axes.size());
  };
  auto stretch = [&](StringRef name, int64_t value) {
    for (auto [index, length] : llvm::enumerate(hint(name))) {
      Axis &axis = info.axes[index];
      int64_t size = tensor && tensor.getRank() ? tensor.getDimSize(index) : 1;
      if (size % length == 0 && length > axis.stride)
        axis = {length % axis.stride == 0 ? axis.divisibility
                                          : axis.divisibilityOfAll(),
                length, value};
    }
  };
  if (allOver && step > 0)
    stretch("tt.contiguity", step);
  if (allOver)
    stretch("tt.constancy", 0);
  SmallVector<int64_t> tiles = hint("tt.contiguity");
  tiles.resize(info.axes.size(), 1);
  for (auto [axis, divisor, tile] :
       llvm::zip(info.axes, hint("tt.divisibility"), tiles)) {
    bool isTile =
        tile == 1 || (axis.strideValue == step && axis.stride % tile == 0);
    if (isTile)
      axis.divisibility = std::max(axis.divisibility, divisor);
  }
}

void AxisInfoAnalysis::setToEntryState(AxisInfoLattice *lattice) {
  Value value = lattice->getAnchor();
  AxisInfo info = AxisInfo::unknown(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner()->isEntryBlock())
    if (auto function = dyn_cast_if_present<FunctionOpInterface>(
            argument.getOwner()->getParentOp()))
      addHints(info, value.getType(), /*allOver=*/true, [&](StringRef name) {
        return function.getArgAttr(argument.getArgNumber(), name);
      });
  propagateIfChanged(lattice, lattice->join(info));
}

LogicalResult
AxisInfoAnalysis::visitOperation(Operation *op,
                                 ArrayRef<const AxisInfoLattice *> operands,
                                 ArrayRef<AxisInfoLattice *> results) {
  SmallVector<AxisInfo> infos;
  for (const AxisInfoLattice *operand : operands) {
    // The solver visits the operation again once the operand is known.
    if (!operand->getValue().isKnown())
      return success();
    infos.push_back(operand->getValue());
  }
  if (auto teacher = dyn_cast<InferAxisInfo>(op)) {
    SmallVector<AxisInfo> facts;
    for (Type type : op->getResultTypes())
      facts.push_back(AxisInfo::unknown(type));
    teacher.inferAxisInfo(infos, overflow, facts);
    for (auto [lattice, info] : llvm::zip_equal(results, facts))
      propagateIfChanged(lattice, lattice->join(info));
    return success();
  }
  std::optional<AxisInfo> info;
  if (results.size() == 1 && infos.size() == 1)
    info = transferShape(op, infos[0]);
  if (results.size() == 1 && !info)
    info = transferArithmetic(op, infos, overflow);
  if (!info && results.size() != 1) {
    setAllToEntryStates(results);
    return success();
  }
  Type type = op->getResult(0).getType();
  if (!info)
    info = AxisInfo::unknown(type);
  addHints(*info, type, /*allOver=*/false,
           [&](StringRef name) { return op->getDiscardableAttr(name); });
  propagateIfChanged(results[0], results[0]->join(*info));
  return success();
}

void AxisInfoAnalysis::visitNonControlFlowArguments(
    Operation *op, const RegionSuccessor &, ValueRange arguments,
    ArrayRef<AxisInfoLattice *> lattices) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop || arguments.size() != 1 || arguments[0] != loop.getInductionVar())
    return setAllToEntryStates(lattices);
  ProgramPoint *point = getProgramPointBefore(loop.getBody());
  const AxisInfo &start =
      getLatticeElementFor(point, loop.getLowerBound())->getValue();
  const AxisInfo &step =
      getLatticeElementFor(point, loop.getStep())->getValue();
  if (!start.isKnown() || !step.isKnown())
    return;
  AxisInfo info = AxisInfo::unknown(arguments[0].getType());
  info.axes[0].divisibility =
      std::min(start.divisibilityOfAll(), step.divisibilityOfAll());
  // The induction variable only grows, up to a bound of its own type, in the
  // order of the loop's comparison. A loop that compares unsigned gives no
  // signed order: in i8, -128 follows 127.
  info.isNonNegative = start.isNonNegative && !loop.getUnsignedCmp();
  propagateIfChanged(lattices[0], lattices[0]->join(info));
}

AxisInfos::AxisInfos(Operation *top, Overflow overflow) {
  dataflow::loadBaselineAnalyses(solver);
  solver.load<AxisInfoAnalysis>(overflow);
  // The solver fails only if a visit fails.
  LogicalResult done = solver.initializeAndRun(top);
  assert(succeeded(done) && "no visit of this analysis fails");
  (void)done;
}

AxisInfo AxisInfos::get(Value value) const {
  const auto *lattice = solver.lookupState<AxisInfoLattice>(value);
  return lattice ? lattice->getValue() : AxisInfo();
}

std::optional<SmallVector<int64_t>>
AxisInfos::getPointerStrides(Value pointers) const {
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  AxisInfo info = get(pointers);
  int64_t bytes = bytesOfPointee(pointers.getType());
  if (!type || type.getRank() == 0 || !info.isKnown() || bytes <= 0)
    return std::nullopt;
  SmallVector<int64_t> strides;
  for (auto [axis, size] : llvm::zip_equal(info.axes, type.getShape())) {
    if (axis.stride != size || axis.strideValue % bytes != 0)
      return std::nullopt;
    strides.push_back(axis.strideValue / bytes);
  }
  return strides;
}
