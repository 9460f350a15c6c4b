// SPDX-License-Identifier: Apache-2.0
//
// Reductions, scans and histograms. If the lanes go along the axis of a
// reduction, they are combined pairwise at the end; if they go along another
// dimension, each lane computes a result of its own.

#include "Roots.h"
#include "StorePrefetch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

static SmallVector<Lanes> asLanes(ValueRange values) {
  return llvm::to_vector(llvm::map_range(values, Lanes::of));
}

namespace {
/// The axis of a reduction or a scan, and the other dimensions.
struct Dimensions {
  int axis, rank;
  int64_t size;
  /// Whether the lanes go along the axis.
  bool horizontal;
  SmallVector<int64_t> outerShape;
  /// The dimension along which the lanes go otherwise.
  int outerDim;
};
} // namespace

template <typename ReduceOrScanOp>
static Dimensions dimensionsOf(ReduceOrScanOp op, Plan &plan) {
  auto type = op.getInputTypes()[0];
  int axis = op.getAxis(), rank = type.getRank();
  SmallVector<Value> others(op.getSrcs().drop_front());
  int vectorDim = plan.contiguousDim(op.getSrcs()[0], others);
  bool horizontal = rank == 1 || vectorDim == axis;
  SmallVector<int64_t> outerShape(type.getShape());
  outerShape.erase(outerShape.begin() + axis);
  int outerDim = horizontal ? std::max(0, rank - 2)
                            : (vectorDim > axis ? vectorDim - 1 : vectorDim);
  return {axis, rank, type.getDimSize(axis), horizontal, outerShape, outerDim};
}

/// Applies the combine function to two groups of lanes of all operands.
SmallVector<Value> ReduceLowering::combine(Region &function, ValueRange lhs,
                                           ValueRange rhs) {
  SmallVector<Lanes> arguments = asLanes(lhs);
  llvm::append_range(arguments, asLanes(rhs));
  SmallVector<Value> values;
  for (const Lanes &lanes : functions.apply(function, arguments))
    values.push_back(b.toVector(lanes));
  return values;
}

void ReduceLowering::lower(triton::ReduceOp op) {
  const auto &[axis, rank, size, horizontal, outerShape, outerDim] =
      dimensionsOf(op, plan);
  SmallVector<Buffer> targets;
  if (rank > 1)
    for (Value result : op.getResults())
      targets.push_back(tiles.allocateFor(result));

  StorePrefetch prefetch(context, plan, evaluator, op, op.getSrcs(),
                         horizontal ? axis : -1);
  auto body = [&](const Coords &outer) {
    int lanes = horizontal ? std::min<int64_t>(mostLanes, size) : b.lanes();
    int step = horizontal ? lanes : 1;
    // Several independent chains of combinations hide the latency, which is
    // four cycles for an addition. With only a few steps, most of the time
    // would go into combining the chains, so there is one chain.
    constexpr int mostChains = 4, leastSteps = 8;
    int groups = size >= leastSteps * step ? mostChains : 1;
    int64_t unit = groups * step;
    Split split;
    // Fewer units are not worth the code of several loops.
    if (horizontal && lanes > 1 && size >= 2 * unit)
      split = splits.ofTensors(op.getSrcs(), axis);
    split.stops &= mayRepeat(op);
    auto coordsAt = [&](const Lanes &along) {
      Coords coords = outer;
      coords.insert(coords.begin() + axis, along);
      return coords;
    };
    auto valuesAt = [&](Value iv, int group, bool isFull = false) {
      Lanes at = Lanes::uniform(b.createOrFold<arith::AddIOp>(
          iv, b.constant(iv.getType(), group * step)));
      if (horizontal && lanes > 1)
        at.pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, lanes));
      Coords coords = coordsAt(at);
      if (isFull)
        splits.assume(split, coords);
      SmallVector<Value> result;
      for (Value src : op.getSrcs())
        result.push_back(b.toVector(evaluator.eval(src, coords)));
      prefetch.emit(coords);
      return result;
    };
    int n = op.getSrcs().size();
    SmallVector<Value> sums;
    evaluator.withScope(lanes, [&] {
      Value zero = b.constant(b.getI64Type(), 0);
      for (int group = 0; group < groups; ++group)
        llvm::append_range(sums, valuesAt(zero, group));
    });
    // Combines the first `count` chains with the groups from `iv` on.
    auto combineGroups = [&](Value iv, ValueRange carried, int count,
                             bool isFull) {
      SmallVector<Value> next;
      evaluator.withScope(lanes, [&] {
        for (int group = 0; group < count; ++group)
          llvm::append_range(next, combine(op.getCombineOp(),
                                           carried.slice(group * n, n),
                                           valuesAt(iv, group, isFull)));
      });
      llvm::append_range(next, carried.drop_front(count * n));
      return next;
    };
    auto loop = [&](Value from, Value to, int count, bool isFull) {
      sums = b.forLoop(from, to, count * step, sums,
                       [&](Value iv, ValueRange carried) {
                         context.facts.setLimit(iv, size - count * step);
                         context.facts.setDivisor(iv, count * step);
                         return combineGroups(iv, carried, count, isFull);
                       });
    };
    Value first = b.constant(b.getI64Type(), unit);
    if (!split) {
      loop(first, b.constant(b.getI64Type(), size), groups, /*isFull=*/false);
    } else {
      // Which chain an element goes to depends on where the loop may stop, not
      // on the masks that it evaluates. So the bits of a sum are the same if a
      // tensor whose mask has a scalar bound is in scratch memory.
      auto [full, chained, stop] =
          splits.ends(split, coordsAt(Lanes::uniform(first)), size, unit, step);
      full = b.createOrFold<arith::MinUIOp>(full, chained);
      for (Value *end : {&full, &chained, &stop})
        *end = b.createOrFold<arith::MaxUIOp>(*end, first);
      if (!split.evaluated.empty())
        loop(first, full, groups, /*isFull=*/true);
      if (!split.stops || split.stopping.size() > 1 || split.evaluated.empty())
        loop(full, chained, groups, /*isFull=*/false);
      if (split.stops) {
        // Mostly few groups are left: one chain suffices.
        loop(chained, stop, 1, /*isFull=*/false);
        auto valuesOfRest = [&] {
          return valuesAt(splits.firstOfRest(stop, size, step), 0);
        };
        SmallVector<Value> chain =
            combineRest(op.getCombineOp(), ValueRange(sums).take_front(n), stop,
                        size, lanes, valuesOfRest);
        llvm::copy(chain, sums.begin());
      }
    }
    evaluator.withScope(lanes, [&] {
      for (int half = groups / 2; half > 0; half /= 2) {
        SmallVector<Value> next;
        for (int group = 0; group < half; ++group)
          llvm::append_range(
              next,
              combine(op.getCombineOp(), ValueRange(sums).slice(group * n, n),
                      ValueRange(sums).slice((group + half) * n, n)));
        sums = next;
      }
    });
    if (horizontal)
      for (int half = lanes / 2; half > 0; half /= 2) {
        SmallVector<Value> low, high;
        for (Value sum : sums) {
          if (half == 1) {
            low.push_back(b.extract(sum, 0));
            high.push_back(b.extract(sum, 1));
            continue;
          }
          auto part = [&](int from) {
            return b.shuffle(
                sum, sum,
                llvm::to_vector(llvm::seq<int32_t>(from, from + half)));
          };
          low.push_back(part(0));
          high.push_back(part(half));
        }
        evaluator.withScope(
            half, [&] { sums = combine(op.getCombineOp(), low, high); });
      }
    for (auto [i, sum] : llvm::enumerate(sums)) {
      if (rank == 1)
        context.scalars[op->getResult(i)] = sum;
      else
        scratch.store(targets[i], outer, Lanes::of(sum));
    }
  };
  tiles.forTile(outerShape, outerDim, body, horizontal ? 1 : mostLanes);
  for (auto [result, target] : llvm::zip(op.getResults(), targets))
    context.buffers[result] = target;
}

void ReduceLowering::lower(triton::ScanOp op) {
  const auto &[axis, rank, size, horizontal, outerShape, outerDim] =
      dimensionsOf(op, plan);
  bool reverse = op.getReverse();
  SmallVector<Buffer> targets;
  for (Value result : op.getResults())
    targets.push_back(scratch.allocate(loweredType(result.getType()),
                                       op.getInputTypes()[0].getShape()));

  tiles.forTile(
      outerShape, outerDim,
      [&](const Coords &outer) {
        int lanes = horizontal ? std::min<int64_t>(mostLanes, size) : b.lanes();
        int step = horizontal ? lanes : 1;
        // Returns the prefixes of one group of lanes. `carried` is the sum of
        // all groups before it, if there are any.
        auto one = [&](Value iv, ValueRange carried) {
          SmallVector<Value> sums;
          evaluator.withScope(lanes, [&] {
            Value from = iv;
            if (reverse)
              from = b.createOrFold<arith::SubIOp>(
                  b.constant(iv.getType(), size - step), iv);
            Lanes at = Lanes::uniform(from);
            if (horizontal && lanes > 1)
              at.pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, lanes));
            Coords coords = outer;
            coords.insert(coords.begin() + axis, at);
            for (Value src : op.getSrcs())
              sums.push_back(b.toVector(evaluator.eval(src, coords)));
            for (int by = 1; horizontal && by < lanes; by *= 2) {
              SmallVector<int32_t> order;
              SmallVector<bool> has;
              for (int lane = 0; lane < lanes; ++lane) {
                int from = reverse ? lane + by : lane - by;
                has.push_back(from >= 0 && from < lanes);
                order.push_back(has.back() ? from : lane);
              }
              SmallVector<Value> shifted;
              for (Value sum : sums)
                shifted.push_back(b.shuffle(sum, sum, order));
              Value mask = arith::ConstantOp::create(
                  b, DenseElementsAttr::get(
                         VectorType::get(lanes, b.getI1Type()), has));
              SmallVector<Value> next =
                  combine(op.getCombineOp(), shifted, sums);
              for (auto [sum, with] : llvm::zip(sums, next))
                sum = arith::SelectOp::create(b, mask, with, sum);
            }
            if (!carried.empty()) {
              SmallVector<Value> before(carried);
              if (horizontal)
                for (Value &value : before)
                  value = b.splat(value, lanes);
              sums = combine(op.getCombineOp(), before, sums);
            }
            for (auto [target, sum] : llvm::zip(targets, sums))
              scratch.store(target, coords, Lanes::of(sum));
          });
          if (horizontal)
            for (Value &sum : sums)
              sum = b.extract(sum, reverse ? 0 : lanes - 1);
          return sums;
        };
        SmallVector<Value> first = one(b.constant(b.getI64Type(), 0), {});
        b.forLoop(step, size, step, first, one);
      },
      horizontal ? 1 : mostLanes);
  for (auto [result, target] : llvm::zip(op.getResults(), targets))
    context.buffers[result] = target;
}

void ReduceLowering::lower(triton::HistogramOp op) {
  auto type = op.getType();
  Buffer counts = scratch.allocate(loweredType(type), type.getShape());
  tiles.forTile(counts.shape, 0, [&](const Coords &coords) {
    scratch.store(counts, coords,
                  Lanes::uniform(b.constant(counts.element, 0)));
  });
  int64_t bins = type.getDimSize(0);
  auto src = cast<RankedTensorType>(op.getSrc().getType());
  tiles.forTile(
      src.getShape(), src.getRank() - 1,
      [&](const Coords &coords) {
        Value bin = b.toScalar(evaluator.eval(op.getSrc(), coords));
        Value counted = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, bin,
                                              b.constant(bin.getType(), bins));
        if (op.getMask())
          counted = arith::AndIOp::create(
              b, counted, b.toScalar(evaluator.eval(op.getMask(), coords)));
        Type i64 = b.getI64Type();
        if (bin.getType() != i64)
          bin = arith::ExtUIOp::create(b, i64, bin);
        auto branch = scf::IfOp::create(b, counted, false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        Coords at = {Lanes::uniform(bin)};
        Value count = b.toScalar(scratch.load(counts, at));
        count = arith::AddIOp::create(b, count, b.constant(count.getType(), 1));
        scratch.store(counts, at, Lanes::uniform(count));
      },
      /*maxLanes=*/1);
  context.buffers[op.getResult()] = counts;
}
