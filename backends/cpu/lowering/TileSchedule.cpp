// SPDX-License-Identifier: Apache-2.0
//
// Loops over tiles, one register-sized group of lanes at a time.

#include "TileSchedule.h"

#include "Exchanges.h"
#include "Operations.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// A loop of fewer groups than this is not split: the code of a second loop
/// costs more time to compile than it saves.
static constexpr int64_t leastGroups = 4;

void TileSchedule::forTile(ArrayRef<int64_t> shape, int vectorDim, Body body,
                           int maxLanes, const Split &split, Rest rest) {
  int rank = shape.size();
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  int lanes = std::min<int64_t>(maxLanes, total);
  if (rank > 0 && (lanes == 1 || shape[vectorDim] >= lanes)) {
    Coords coords(rank);
    std::function<void(int)> nest = [&](int dim) {
      if (dim == vectorDim)
        return nest(dim + 1);
      bool innermost = dim >= rank;
      int at = innermost ? vectorDim : dim;
      if (innermost && split && lanes > 1 && shape[at] >= leastGroups * lanes)
        return forSplitGroups(coords, shape[at], lanes, body, split, rest);
      b.forLoop(0, shape[at], innermost ? lanes : 1, [&](Value iv) {
        coords[at] = Lanes::uniform(iv);
        if (!innermost)
          return nest(dim + 1);
        if (lanes > 1)
          coords[at].pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, lanes));
        evaluator.withScope(lanes, [&] { body(coords); });
      });
    };
    nest(0);
    return;
  }
  // The dimensions are small: one loop over all elements in row-major order,
  // with lanes that span several dimensions.
  b.forLoop(0, total, lanes, [&](Value iv) {
    evaluator.withScope(lanes, [&] { body(spread(iv, shape)); });
  });
}

/// Emits up to three loops over the groups of lanes of one row: one in which
/// all comparisons are true, one in which they are evaluated, and what `rest`
/// emits for the groups behind these.
void TileSchedule::forSplitGroups(Coords &coords, int64_t size, int lanes,
                                  Body body, const Split &split, Rest rest) {
  Type i64 = b.getI64Type();
  auto [full, fullStop, stop] = splits.ends(split, coords, size, lanes, lanes);
  auto groupAt = [&](Value first) {
    context.facts.setLimit(first, size - lanes);
    context.facts.setDivisor(first, lanes);
    Coords group = coords;
    group[split.dim] = Lanes::uniform(first);
    group[split.dim].pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, lanes));
    return group;
  };
  auto loop = [&](Value from, Value to, Body body) {
    b.forLoop(from, to, lanes, {},
              [&](Value iv, ValueRange) -> SmallVector<Value> {
                evaluator.withScope(lanes, [&] { body(groupAt(iv)); });
                return {};
              });
  };
  if (!split.evaluated.empty())
    loop(b.constant(i64, 0), full, [&](const Coords &group) {
      splits.assume(split, group);
      body(group);
    });
  loop(full, stop, body);
  if (!split.stops || !rest)
    return;
  Value end = b.constant(i64, size);
  Value hasRest =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, stop, end);
  b.ifTrue(hasRest, [&] {
    evaluator.withScope(lanes, [&] {
      rest(groupAt(splits.firstOfRest(stop, size, lanes)),
           [&](Body body) { loop(stop, end, body); });
    });
  });
}

/// Returns the coordinates of a group of lanes whose first element has the
/// row-major index `first`. All sizes are powers of two.
Coords TileSchedule::spread(Value first, ArrayRef<int64_t> shape) {
  Coords coords(shape.size());
  int lanes = b.lanes();
  int64_t stride = 1;
  for (int i = int(shape.size()) - 1; i >= 0; --i) {
    int64_t size = shape[i];
    if (size == 1) {
      coords[i] = Lanes::uniform(b.zero());
      continue;
    }
    Value base = b.zero();
    if (stride * size > lanes) {
      base = first;
      if (stride > 1)
        base = b.createOrFold<arith::ShRUIOp>(
            base, b.constant(b.getI64Type(), llvm::Log2_64(stride)));
      base = b.createOrFold<arith::AndIOp>(
          base, b.constant(b.getI64Type(), size - 1));
    }
    coords[i] = Lanes::uniform(base);
    for (int lane = 0; lane < lanes; ++lane)
      coords[i].pattern.push_back(lane / stride % size);
    coords[i] = arithmetic.normalize(coords[i]);
    stride *= size;
  }
  return coords;
}

void TileSchedule::forTensor(Value tensor, Body body) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int dim = plan.contiguousDim(tensor);
  Split split = splits.ofTensors(tensor, dim);
  split.stops = false;
  forTile(type.getShape(), dim, body, mostLanes, split);
}

Buffer TileSchedule::allocateFor(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (std::optional<Buffer> buffer = carriedBuffer(tensor))
    return *buffer;
  return scratch.allocate(loweredType(type), type.getShape());
}

/// Returns the memory of a loop-carried tensor if `tensor` is its next value
/// and may overwrite it. It may if no later operation needs the old value, and
/// the root that computes the new value reads the old one only in place, if at
/// all.
std::optional<Buffer> TileSchedule::carriedBuffer(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop)
    return std::nullopt;
  std::optional<unsigned> position;
  for (OpOperand &use : tensor.getUses()) {
    if (use.getOwner() != loop.getBody()->getTerminator())
      continue;
    if (position)
      return std::nullopt;
    position = use.getOperandNumber();
  }
  if (!position)
    return std::nullopt;
  Value carried = loop.getRegionIterArg(*position);
  auto it = context.buffers.find(carried);
  if (it == context.buffers.end())
    return std::nullopt;
  for (const RootUse &use : plan.uses(carried)) {
    Operation *user = loop.getBody()->findAncestorOpInBlock(*use.root);
    if (!user)
      return std::nullopt;
    bool inPlace = user == op && use.root == op &&
                   !isa<triton::ReduceOp, triton::ScanOp>(op) &&
                   plan.isInPlace(use);
    if (!inPlace && !user->isBeforeInBlock(op))
      return std::nullopt;
  }
  return it->second;
}

void TileSchedule::copy(const Buffer &from, const Buffer &to) {
  if (from.ptr == to.ptr)
    return;
  forTile(to.shape, to.shape.size() - 1, [&](const Coords &coords) {
    scratch.store(to, coords, scratch.load(from, coords));
  });
}

/// Returns how the expression of `tensor` reads `buffer`. Below an operation
/// that rearranges, it reads other coordinates than the root writes.
TileSchedule::Reads TileSchedule::readsOf(Value tensor, const Buffer &buffer) {
  Reads reads = Reads::Never;
  DenseSet<Value> seen[2];
  SmallVector<std::pair<Value, bool>> pending = {{tensor, false}};
  while (!pending.empty()) {
    auto [value, isElsewhere] = pending.pop_back_val();
    if (!isa<RankedTensorType>(value.getType()) ||
        !seen[isElsewhere].insert(value).second)
      continue;
    if (auto it = context.buffers.find(value); it != context.buffers.end()) {
      if (it->second.ptr != buffer.ptr)
        continue;
      if (isElsewhere)
        return Reads::Elsewhere;
      reads = Reads::InPlace;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    isElsewhere |=
        exchangedDim(op).has_value() ||
        isa<triton::BroadcastOp, triton::ExpandDimsOp, triton::TransOp,
            triton::ReshapeOp, triton::JoinOp, triton::CatOp, triton::SplitOp,
            triton::GatherOp, triton::ReduceOp>(op);
    for (Value operand : op->getOperands())
      pending.push_back({operand, isElsewhere});
  }
  return reads;
}

SmallVector<Value> TileSchedule::assign(OperandRange values,
                                        ArrayRef<Buffer> targets) {
  SmallVector<Value> results;
  SmallVector<std::pair<Value, Buffer>> pending;
  int next = 0;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType())) {
      results.push_back(context.scalars.lookup(value));
      continue;
    }
    const Buffer &target = targets[next++];
    auto it = context.buffers.find(value);
    if (it == context.buffers.end() || it->second.ptr != target.ptr)
      pending.push_back({value, target});
  }
  SmallVector<std::pair<Buffer, Buffer>> copies;
  while (!pending.empty()) {
    auto isSafe = [&](auto &candidate) {
      const Buffer &target = candidate.second;
      if (readsOf(candidate.first, target) == Reads::Elsewhere)
        return false;
      return llvm::all_of(pending, [&](auto &other) {
        return &other == &candidate ||
               readsOf(other.first, target) == Reads::Never;
      });
    };
    auto it = llvm::find_if(pending, isSafe);
    if (it != pending.end()) {
      materialize(it->first, it->second);
      pending.erase(it);
      continue;
    }
    auto [value, target] = pending.pop_back_val();
    Buffer temporary = scratch.allocate(target.element, target.shape);
    materialize(value, temporary);
    copies.push_back({temporary, target});
  }
  for (auto &[from, to] : copies)
    copy(from, to);
  return results;
}
