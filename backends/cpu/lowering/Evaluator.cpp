// SPDX-License-Identifier: Apache-2.0
//
// An elementwise operation is emitted once per scope. A tensor in scratch
// memory is loaded from there. An operation that only rearranges elements
// evaluates its operand at other coordinates, which Rearrangements.cpp computes
// if they depend on the elements.

#include "Evaluator.h"

#include "Exchanges.h"
#include "LoadPrefetch.h"
#include "Operations.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

void Evaluator::withScope(int lanes, llvm::function_ref<void()> body) {
  Scope inner;
  Scope *outer = std::exchange(scope, &inner);
  {
    LaneBuilder::GroupGuard group(b, lanes);
    body();
  }
  scope = outer;
}

Evaluator::CoordId Evaluator::coordId(const Lanes &lanes) {
  CoordKey key;
  key.pattern = lanes.pattern;
  IntegerAttr number;
  if (lanes.base && matchPattern(lanes.base, m_Constant(&number)))
    key.number = number.getValue().getSExtValue();
  else if (lanes.base)
    key.base = lanes.base.getAsOpaquePointer();
  if (lanes.vec)
    key.vec = lanes.vec.getAsOpaquePointer();
  return scope->coords.try_emplace(key, scope->coords.size()).first->second;
}

SmallVector<Evaluator::CoordId> Evaluator::coordIds(const Coords &coords) {
  return llvm::map_to_vector(
      coords, [&](const Lanes &lanes) { return coordId(lanes); });
}

Lanes Evaluator::eval(Value value, const Coords &coords) {
  if (!isa<RankedTensorType>(value.getType()))
    return Lanes::uniform(context.scalar(value));
  Place key(value.getAsOpaquePointer(), coordIds(coords));
  if (auto it = scope->memo.find(key); it != scope->memo.end())
    return it->second;
  Lanes lanes;
  if (auto it = context.buffers.find(value); it != context.buffers.end()) {
    lanes = withHint(value, scratch.load(it->second, coords), coords);
    if (it->second.runs)
      lanes = withRuns(*it->second.runs, lanes, coords);
  } else if (Operation *op = value.getDefiningOp()) {
    Location outer = b.getLoc();
    b.setLoc(op->getLoc());
    lanes = evalTensor(op, cast<OpResult>(value), coords);
    lanes = withHint(value, lanes, coords);
    b.setLoc(outer);
  } else {
    lanes = Lanes::uniform(
        context.error(context.current, "a tensor as argument of a block or a "
                                       "function is not supported on the CPU"));
  }
  scope->memo[key] = lanes;
  return lanes;
}

void Evaluator::assume(Value value, const Coords &coords, const Lanes &lanes) {
  scope->memo[{value.getAsOpaquePointer(), coordIds(coords)}] = lanes;
}

Lanes Evaluator::evalTensor(Operation *op, OpResult result,
                            const Coords &coords) {
  Type i64 = b.getI64Type();
  return llvm::TypeSwitch<Operation *, Lanes>(op)
      .Case([&](triton::SplatOp splat) { return eval(splat.getSrc(), {}); })
      .Case([&](arith::ConstantOp op) { return evalConstant(op, coords); })
      .Case([&](triton::MakeRangeOp range) { return evalRange(range, coords); })
      .Case([&](triton::BroadcastOp broadcast) {
        Coords inner = coords;
        auto shape = broadcast.getSrc().getType().getShape();
        for (auto [i, size] : llvm::enumerate(shape))
          if (size == 1)
            inner[i] = Lanes::uniform(b.zero());
        return eval(broadcast.getSrc(), inner);
      })
      .Case([&](triton::ExpandDimsOp expand) {
        Coords inner = coords;
        inner.erase(inner.begin() + expand.getAxis());
        return eval(expand.getSrc(), inner);
      })
      .Case([&](triton::TransOp trans) {
        Coords inner(coords.size());
        for (auto [i, from] : llvm::enumerate(trans.getOrder()))
          inner[from] = coords[i];
        return eval(trans.getSrc(), inner);
      })
      .Case([&](triton::ReshapeOp reshape) {
        return evalReshape(reshape, coords);
      })
      .Case([&](UnrealizedConversionCastOp exchange) {
        std::optional<int> dim = exchangedDim(exchange);
        if (!dim)
          return Lanes::uniform(context.error(op, "not supported on the CPU"));
        Coords inner = coords;
        inner[*dim] = arithmetic.exchange(inner[*dim]);
        return eval(exchange.getOperand(0), inner);
      })
      .Case([&](triton::UnsplatOp unsplat) {
        return eval(unsplat.getSrc(),
                    Coords(unsplat.getSrc().getType().getRank(),
                           Lanes::uniform(b.zero())));
      })
      .Case([&](triton::SplitOp split) {
        Coords inner = coords;
        inner.push_back(
            Lanes::uniform(b.constant(i64, result.getResultNumber())));
        return eval(split.getSrc(), inner);
      })
      .Case<triton::JoinOp, triton::CatOp>(
          [&](Operation *op) { return evalJoined(op, coords); })
      .Case([&](triton::GatherOp gather) { return evalGather(gather, coords); })
      .Case([&](triton::LoadOp load) { return evalLoad(load, coords); })
      .Case([&](triton::ReduceOp reduce) {
        return evalSmallReduce(reduce, result, coords);
      })
      .Default([&](Operation *op) {
        if (op->getNumResults() != 1 || op->getNumRegions())
          return Lanes::uniform(context.error(op, "not supported on the CPU"));
        SmallVector<Lanes> operands;
        for (Value operand : op->getOperands())
          operands.push_back(eval(
              operand,
              isa<RankedTensorType>(operand.getType()) ? coords : Coords()));
        return elementwise.apply(op, operands);
      });
}

Lanes Evaluator::evalRange(triton::MakeRangeOp range, const Coords &coords) {
  Type element = loweredType(range.getType());
  Lanes lanes = coords[0];
  if (lanes.vec)
    return arithmetic.add(
        Lanes::vector(
            arith::TruncIOp::create(b, like(lanes.vec, element), lanes.vec)),
        Lanes::uniform(b.constant(element, range.getStartAttr().getInt())));
  lanes.base = b.createOrFold<arith::TruncIOp>(element, lanes.base);
  if (int64_t start = range.getStartAttr().getInt())
    lanes.base =
        b.createOrFold<arith::AddIOp>(lanes.base, b.constant(element, start));
  return lanes;
}

Lanes Evaluator::evalLoad(triton::LoadOp load, const Coords &coords) {
  Type element = loweredType(load.getType());
  Lanes ptr = eval(load.getPtr(), coords), mask, other;
  if (load.getMask())
    mask = eval(load.getMask(), coords);
  if (load.getOther())
    other = eval(load.getOther(), coords);
  int64_t distance = bytesToNextIteration(load);
  Value condition;
  if (!distance) {
    distance = context.nextPrograms.lookup(load.getPtr());
    condition = context.isNextBeside;
  }
  prefetchNext(ptr, bytesOf(element), distance, condition, /*isStore=*/false);
  return memory.load(element, ptr, mask ? &mask : nullptr,
                     other ? &other : nullptr, isVolatile(load));
}

void Evaluator::prefetchNext(const Lanes &ptr, int64_t bytes, int64_t distance,
                             Value condition, bool isStore) {
  constexpr int64_t lineBytes = 64;
  if (!distance || !ptr.isPattern() || !isContiguous(ptr.pattern, bytes) ||
      b.lanes() * bytes < lineBytes)
    return;
  OpBuilder::InsertionGuard guard(b);
  for (Value needed : {condition, ptr.holds})
    if (needed)
      b.setInsertionPointToStart(
          scf::IfOp::create(b, needed, /*withElseRegion=*/false).thenBlock());
  Value next =
      b.offset(ptr.base, b.constant(b.getI64Type(), ptr.pattern[0] + distance));
  LLVM::Prefetch::create(b, next, /*rw=*/isStore, /*hint=*/3, /*cache=*/1);
}

/// Returns the lanes as base + (0, 1, 2, …) if the kernel promises with
/// tl.max_contiguous that they are contiguous. This restores the form, which
/// lanes lose, for example, in scratch memory.
Lanes Evaluator::withHint(Value value, Lanes lanes, const Coords &coords) {
  Operation *op = value.getDefiningOp();
  auto hint =
      op ? op->getAttrOfType<DenseIntElementsAttr>("tt.contiguity") : nullptr;
  Type element = getElementTypeOrSelf(value.getType());
  int64_t step = 1;
  if (isa<triton::PointerType>(element))
    step = pointeeBytes(element);
  else if (!isa<IntegerType>(element))
    return lanes;
  if (!hint || !lanes.vec || hint.size() != int64_t(coords.size()))
    return lanes;
  auto runs = llvm::to_vector(hint.getValues<APInt>());
  for (int dim = 0, rank = coords.size(); dim < rank; ++dim) {
    // A group lies in one contiguous run if runs start at multiples of the
    // group's size.
    int64_t run = runs[dim].getSExtValue();
    if (run <= 0 || run % b.lanes() != 0 || !areAlong(coords, dim))
      continue;
    Lanes contiguous = b.contiguous(b.extract(lanes.vec, 0), step);
    if (isa<IntegerType>(element))
      context.facts.setRoom(contiguous.base, b.lanes() - 1);
    return contiguous;
  }
  return lanes;
}

/// Returns whether the group consists of neighbours along `dim` and starts at a
/// multiple of its size.
bool Evaluator::areAlong(const Coords &coords, int dim) const {
  if (!coords[dim].isPattern() || !arithmetic.hasDisjointBits(coords[dim]))
    return false;
  for (auto [i, p] : llvm::enumerate(coords[dim].pattern))
    if (p != int64_t(i))
      return false;
  for (auto [other, lanes] : llvm::enumerate(coords))
    if (int(other) != dim && !lanes.isUniform())
      return false;
  return true;
}

/// Returns lanes from scratch memory as base + pattern, where and if the tensor
/// consists of runs.
Lanes Evaluator::withRuns(const Runs &runs, Lanes lanes, const Coords &coords) {
  if (!lanes.vec || b.lanes() > runs.lanes || !areAlong(coords, runs.dim))
    return lanes;
  Lanes contiguous = b.contiguous(b.extract(lanes.vec, 0), runs.step);
  if (runs.holds) {
    contiguous.holds = runs.holds;
    contiguous.exact = lanes.vec;
  }
  return contiguous;
}

Lanes Evaluator::evalConstant(arith::ConstantOp op, const Coords &coords) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (dense && !dense.isSplat())
    return scratch.load(constantTable(op, dense), coords);
  return elementwise.constant(op);
}

/// Returns a table of the elements; the library contains it as data.
Buffer Evaluator::constantTable(arith::ConstantOp op, DenseElementsAttr dense) {
  Type element = loweredType(op.getType());
  unsigned bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  std::string content;
  auto append = [&](const APInt &bits) {
    for (unsigned i = 0; i < bytes; ++i)
      content += char(
          bits.extractBitsAsZExtValue(std::min(8u, bits.getBitWidth()), 8 * i));
  };
  if (isa<FloatType>(dense.getElementType())) {
    for (const APFloat &number : dense.getValues<APFloat>())
      append(number.bitcastToAPInt());
  } else {
    for (const APInt &number : dense.getValues<APInt>())
      append(number);
  }
  Value table = context.globalBytes("table", content, /*alignment=*/64);
  auto shape = cast<RankedTensorType>(op.getType()).getShape();
  return {table, element, llvm::to_vector<4>(shape)};
}

Lanes Evaluator::evalSmallReduce(triton::ReduceOp op, OpResult result,
                                 const Coords &coords) {
  int axis = op.getAxis();
  int64_t size = op.getInputTypes()[0].getDimSize(axis);
  SmallVector<Lanes> sum;
  for (int64_t i = 0; i < size; ++i) {
    Coords inner = coords;
    inner.insert(inner.begin() + axis,
                 Lanes::uniform(b.constant(b.getI64Type(), i)));
    SmallVector<Lanes> arguments = sum;
    for (Value src : op.getSrcs())
      arguments.push_back(eval(src, inner));
    sum = i ? functions.apply(op.getCombineOp(), arguments) : arguments;
  }
  SmallVector<CoordId> ids = coordIds(coords);
  for (auto [value, lanes] : llvm::zip(op.getResults(), sum))
    scope->memo[{value.getAsOpaquePointer(), ids}] = lanes;
  return sum[result.getResultNumber()];
}
