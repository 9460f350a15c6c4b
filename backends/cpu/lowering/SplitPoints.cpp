// SPDX-License-Identifier: Apache-2.0
//
// Finds the comparisons by which a loop is split.

#include "SplitPoints.h"

#include "Operations.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// The most tensors of an expression that are visited.
static constexpr unsigned mostVisits = 500;

namespace {
/// How the elements of a tensor vary along the split dimension, as far as is
/// known.
enum class Along {
  /// Nothing.
  Varies,
  /// They are equal behind the ends of all comparisons.
  Stops,
  /// They are false behind the ends of all comparisons.
  IsOff,
  /// They are equal.
  Same,
};

/// Visits the expressions of a root's operands and collects comparisons.
class Search {
public:
  Search(const LoweringContext &context, int dim)
      : context(context), dim(dim) {}

  Along visit(const Operand &operand, bool isStored = false);

  /// The comparisons, and whether the loop of the root evaluates them. If not,
  /// they are in the definition of a tensor in scratch memory.
  SmallVector<std::pair<Comparison, bool>, 4> found;

private:
  bool isSame(const Operand &operand) const;
  Along visitOperation(Operation *op, const Operand &result, bool isStored);
  std::optional<Comparison> comparison(arith::CmpIOp op,
                                       ArrayRef<int> dims) const;
  bool isIndex(const Operand &operand, Comparison &comparison) const;
  bool mayEvaluateAgain(Value tensor) const;

  const LoweringContext &context;
  int dim;
  /// The results for the tensors that have been visited, by tensor, dimensions
  /// and whether it was part of a stored tensor.
  std::map<std::tuple<void *, SmallVector<int, 4>, bool>, Along> visited;
};
} // namespace

/// Returns the source of an operation that only rearranges dimensions, seen
/// from the root; nullopt for every other operation.
static std::optional<Operand> sourceOf(Operation *op, ArrayRef<int> dims) {
  Operand source;
  source.dims.assign(dims.begin(), dims.end());
  if (auto broadcast = dyn_cast<triton::BroadcastOp>(op)) {
    source.tensor = broadcast.getSrc();
    for (auto [i, size] :
         llvm::enumerate(broadcast.getSrc().getType().getShape()))
      if (size == 1)
        source.dims[i] = -1;
    return source;
  }
  if (auto expand = dyn_cast<triton::ExpandDimsOp>(op)) {
    source.tensor = expand.getSrc();
    source.dims.erase(source.dims.begin() + expand.getAxis());
    return source;
  }
  if (auto trans = dyn_cast<triton::TransOp>(op)) {
    source.tensor = trans.getSrc();
    for (auto [i, from] : llvm::enumerate(trans.getOrder()))
      source.dims[from] = dims[i];
    return source;
  }
  return std::nullopt;
}

/// Returns whether the elements are equal along the split dimension, because
/// they are evaluated at the same coordinates or come from one scalar.
bool Search::isSame(const Operand &operand) const {
  if (!isa<RankedTensorType>(operand.tensor.getType()) ||
      !llvm::is_contained(operand.dims, dim))
    return true;
  Operation *op = operand.tensor.getDefiningOp();
  if (!op)
    return false;
  if (isa<triton::SplatOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return dense && dense.isSplat();
  }
  if (std::optional<Operand> source = sourceOf(op, operand.dims))
    return isSame(*source);
  return false;
}

/// Returns whether neighbours along the split dimension are one apart, modulo
/// 2^width. Adds to `comparison.extended`.
bool Search::isIndex(const Operand &operand, Comparison &comparison) const {
  Operation *op = operand.tensor.getDefiningOp();
  auto at = [&](int i) { return Operand{op->getOperand(i), operand.dims}; };
  if (!op || context.buffers.contains(operand.tensor))
    return false;
  if (isa<triton::MakeRangeOp>(op))
    return operand.dims.front() == dim;
  if (isa<arith::AddIOp>(op))
    return (isIndex(at(0), comparison) && isSame(at(1))) ||
           (isSame(at(0)) && isIndex(at(1), comparison));
  if (isa<arith::SubIOp>(op))
    return isIndex(at(0), comparison) && isSame(at(1));
  if (isa<arith::ExtSIOp>(op)) {
    comparison.extended.push_back(at(0));
    return isIndex(at(0), comparison);
  }
  if (std::optional<Operand> source = sourceOf(op, operand.dims))
    return isIndex(*source, comparison);
  return false;
}

/// Returns whether `tensor`, which is a part of the definition of a tensor in
/// scratch memory, has the same elements if the current root evaluates it
/// again. The plan knows only that the stored tensor needed it. So a load that
/// is not in scratch memory may read what a store has written since, and the
/// memory of a loop-carried tensor may already hold the next value.
bool Search::mayEvaluateAgain(Value tensor) const {
  SmallVector<Value> pending = {tensor};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || seen.size() > mostVisits)
      return false;
    if (context.buffers.contains(value))
      continue;
    if (isa<triton::LoadOp>(op))
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

std::optional<Comparison> Search::comparison(arith::CmpIOp op,
                                             ArrayRef<int> dims) const {
  using Predicate = arith::CmpIPredicate;
  Operand lhs = {op.getLhs(), SmallVector<int, 4>(dims)};
  Operand rhs = {op.getRhs(), SmallVector<int, 4>(dims)};
  Predicate predicate = op.getPredicate();
  if (predicate == Predicate::sgt || predicate == Predicate::sge)
    std::swap(lhs, rhs);
  else if (predicate != Predicate::slt && predicate != Predicate::sle)
    return std::nullopt;
  bool isInclusive = predicate == Predicate::sle || predicate == Predicate::sge;
  Comparison found = {op, lhs, rhs, isInclusive, {}};
  if (!isSame(rhs) || !isIndex(lhs, found))
    return std::nullopt;
  return found;
}

Along Search::visit(const Operand &operand, bool isStored) {
  if (isSame(operand))
    return Along::Same;
  Operation *op = operand.tensor.getDefiningOp();
  if (!op || isRoot(op))
    return Along::Varies;
  isStored |= context.buffers.contains(operand.tensor);
  auto key = std::make_tuple(operand.tensor.getAsOpaquePointer(), operand.dims,
                             isStored);
  if (auto it = visited.find(key); it != visited.end())
    return it->second;
  if (visited.size() >= mostVisits)
    return Along::Varies;
  visited[key] = Along::Varies;
  return visited[key] = visitOperation(op, operand, isStored);
}

Along Search::visitOperation(Operation *op, const Operand &result,
                             bool isStored) {
  auto visitOperand = [&](Value tensor) {
    return visit({tensor, result.dims}, isStored);
  };
  if (std::optional<Operand> source = sourceOf(op, result.dims))
    return visit(*source, isStored);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    if (std::optional<Comparison> split = comparison(compare, result.dims);
        split && (!isStored || (mayEvaluateAgain(compare.getLhs()) &&
                                mayEvaluateAgain(compare.getRhs())))) {
      auto known = llvm::find_if(found, [&](auto &other) {
        return other.first.op == compare &&
               other.first.index.dims == split->index.dims;
      });
      if (known == found.end())
        found.push_back({*split, !isStored});
      else
        known->second |= !isStored;
      return Along::IsOff;
    }
  auto load = dyn_cast<triton::LoadOp>(op);
  if (!load &&
      (!op->hasTrait<OpTrait::Elementwise>() || !isMemoryEffectFree(op)))
    return Along::Varies;
  // Every operand is visited, whatever the result, because the loop evaluates
  // the comparisons in all of them.
  SmallVector<Along> operands;
  for (Value operand : op->getOperands())
    operands.push_back(visitOperand(operand));
  if (isa<arith::AndIOp>(op) && llvm::is_contained(operands, Along::IsOff))
    return Along::IsOff;
  if (isa<arith::SelectOp>(op) && operands[0] == Along::IsOff)
    return operands[2] == Along::Same ? Along::Stops : operands[2];
  if (load && isVolatile(load))
    return Along::Varies;
  if (load && load.getMask() && operands[1] == Along::IsOff)
    return load.getOther() && operands[2] == Along::Varies ? Along::Varies
                                                           : Along::Stops;
  return llvm::is_contained(operands, Along::Varies) ? Along::Varies
                                                     : Along::Stops;
}

static Operand ofRoot(Value tensor) {
  int rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return {tensor, llvm::to_vector<4>(llvm::seq<int>(0, rank))};
}

Split SplitPoints::ofTensors(ValueRange tensors, int dim) {
  Search search(context, dim);
  bool stops = true;
  for (Value tensor : tensors)
    stops &= search.visit(ofRoot(tensor)) != Along::Varies;
  Split split;
  split.dim = dim;
  for (const auto &[comparison, isEvaluated] : search.found) {
    split.stopping.push_back(comparison);
    if (isEvaluated)
      split.evaluated.push_back(comparison);
  }
  split.stops = stops && !split.stopping.empty();
  return split;
}

Split SplitPoints::ofStore(triton::StoreOp op, int dim) {
  SmallVector<Value> tensors = {op.getPtr(), op.getValue()};
  if (op.getMask())
    tensors.push_back(op.getMask());
  Split split = ofTensors(tensors, dim);
  split.stopping.clear();
  split.stops = false;
  if (!op.getMask())
    return split;
  Search mask(context, dim);
  split.stops = mask.visit(ofRoot(op.getMask())) == Along::IsOff;
  for (const auto &[comparison, isEvaluated] : mask.found)
    split.stopping.push_back(comparison);
  return split;
}
