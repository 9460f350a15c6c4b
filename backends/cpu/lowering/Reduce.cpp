// SPDX-License-Identifier: Apache-2.0
//
// Reductions, scans and histograms. Along the dimension of the lanes, lanes are
// combined pairwise at the end; along another one, each lane is its own.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

static SmallVector<Lanes> asLanes(ValueRange values) {
  SmallVector<Lanes> result;
  for (Value value : values)
    result.push_back(isa<VectorType>(value.getType()) ? Lanes::vector(value)
                                                      : Lanes::uniform(value));
  return result;
}

namespace {
/// The dimension that a reduction or a scan goes along, and those around it.
struct Dimensions {
  int axis, rank;
  int64_t size;
  /// Whether the lanes go along that dimension, too.
  bool horizontal;
  SmallVector<int64_t> outerShape;
  /// Where they go otherwise.
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

void Lowering::lowerReduce(triton::ReduceOp op) {
  const auto &[axis, rank, size, horizontal, outerShape, outerDim] =
      dimensionsOf(op, plan);
  SmallVector<Buffer> targets;
  if (rank > 1)
    for (Value result : op.getResults())
      targets.push_back(allocateFor(result));

  auto body = [&](const Coords &outer) {
    int lanes = horizontal ? std::min<int64_t>(16, size) : scope->lanes;
    int step = horizontal ? lanes : 1;
    int groups =
        size >= 8 * step ? 4 : 1; // chains that do not wait for another
    auto toValues = [&](ArrayRef<Lanes> all) {
      SmallVector<Value> values;
      for (const Lanes &one : all)
        values.push_back(toVector(one));
      return values;
    };
    auto valuesAt = [&](Value iv, int group) {
      Lanes at = Lanes::uniform(b.createOrFold<arith::AddIOp>(
          iv, constant(iv.getType(), group * step)));
      if (horizontal && lanes > 1)
        at.pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, lanes));
      Coords coords = outer;
      coords.insert(coords.begin() + axis, at);
      SmallVector<Lanes> result;
      for (Value src : op.getSrcs())
        result.push_back(eval(src, coords));
      return toValues(result);
    };
    auto combine = [&](ValueRange lhs, ValueRange rhs) {
      SmallVector<Lanes> arguments = asLanes(lhs);
      llvm::append_range(arguments, asLanes(rhs));
      return toValues(evalRegion(op.getCombineOp(), arguments));
    };
    int n = op.getSrcs().size();
    SmallVector<Value> sums;
    withScope(lanes, [&] {
      Value zero = constant(b.getI64Type(), 0);
      for (int group = 0; group < groups; ++group)
        llvm::append_range(sums, valuesAt(zero, group));
    });
    sums = forLoop(groups * step, size, groups * step, sums,
                   [&](Value iv, ValueRange carried) {
                     SmallVector<Value> next;
                     withScope(lanes, [&] {
                       for (int group = 0; group < groups; ++group)
                         llvm::append_range(next,
                                            combine(carried.slice(group * n, n),
                                                    valuesAt(iv, group)));
                     });
                     return next;
                   });
    withScope(lanes, [&] {
      for (int half = groups / 2; half > 0; half /= 2) {
        SmallVector<Value> next;
        for (int group = 0; group < half; ++group)
          llvm::append_range(
              next, combine(ValueRange(sums).slice(group * n, n),
                            ValueRange(sums).slice((group + half) * n, n)));
        sums = next;
      }
    });
    if (horizontal)
      for (int half = lanes / 2; half > 0; half /= 2) {
        SmallVector<Value> low, high;
        for (Value sum : sums) {
          if (half == 1) {
            low.push_back(extract(sum, 0));
            high.push_back(extract(sum, 1));
            continue;
          }
          auto part = [&](int from) {
            return shuffle(
                sum, sum,
                llvm::to_vector(llvm::seq<int32_t>(from, from + half)));
          };
          low.push_back(part(0));
          high.push_back(part(half));
        }
        withScope(half, [&] { sums = combine(low, high); });
      }
    for (auto [i, sum] : llvm::enumerate(sums)) {
      if (rank == 1)
        scalars[op->getResult(i)] = sum;
      else
        storeBuffer(targets[i], outer,
                    isa<VectorType>(sum.getType()) ? Lanes::vector(sum)
                                                   : Lanes::uniform(sum));
    }
  };
  forTile(outerShape, outerDim, body, horizontal ? 1 : 16);
  for (auto [result, target] : llvm::zip(op.getResults(), targets))
    buffers[result] = target;
}

void Lowering::lowerScan(triton::ScanOp op) {
  const auto &[axis, rank, size, horizontal, outerShape, outerDim] =
      dimensionsOf(op, plan);
  bool reverse = op.getReverse();
  SmallVector<Buffer> targets;
  for (Value result : op.getResults())
    targets.push_back(
        allocate(convert(result.getType()), op.getInputTypes()[0].getShape()));

  forTile(
      outerShape, outerDim,
      [&](const Coords &outer) {
        int lanes = horizontal ? std::min<int64_t>(16, size) : scope->lanes;
        int step = horizontal ? lanes : 1;
        auto combine = [&](ValueRange lhs, ValueRange rhs) {
          SmallVector<Lanes> arguments = asLanes(lhs);
          llvm::append_range(arguments, asLanes(rhs));
          SmallVector<Value> values;
          for (const Lanes &one : evalRegion(op.getCombineOp(), arguments))
            values.push_back(toVector(one));
          return values;
        };
        // The prefixes of one group of lanes; what came before is `carried`.
        auto one = [&](Value iv, ValueRange carried) {
          SmallVector<Value> sums;
          withScope(lanes, [&] {
            Value from = iv;
            if (reverse)
              from = b.createOrFold<arith::SubIOp>(
                  constant(iv.getType(), size - step), iv);
            Lanes at = Lanes::uniform(from);
            if (horizontal && lanes > 1)
              at.pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, lanes));
            Coords coords = outer;
            coords.insert(coords.begin() + axis, at);
            for (Value src : op.getSrcs())
              sums.push_back(toVector(eval(src, coords)));
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
                shifted.push_back(shuffle(sum, sum, order));
              Value mask = arith::ConstantOp::create(
                  b, DenseElementsAttr::get(
                         VectorType::get(lanes, b.getI1Type()), has));
              SmallVector<Value> next = combine(shifted, sums);
              for (auto [sum, with] : llvm::zip(sums, next))
                sum = arith::SelectOp::create(b, mask, with, sum);
            }
            if (!carried.empty()) {
              SmallVector<Value> before(carried);
              if (horizontal)
                for (Value &value : before)
                  value = splat(value, lanes);
              sums = combine(before, sums);
            }
            for (auto [target, sum] : llvm::zip(targets, sums))
              storeBuffer(target, coords,
                          isa<VectorType>(sum.getType()) ? Lanes::vector(sum)
                                                         : Lanes::uniform(sum));
          });
          if (horizontal)
            for (Value &sum : sums)
              sum = extract(sum, reverse ? 0 : lanes - 1);
          return sums;
        };
        SmallVector<Value> first = one(constant(b.getI64Type(), 0), {});
        forLoop(step, size, step, first, one);
      },
      horizontal ? 1 : 16);
  for (auto [result, target] : llvm::zip(op.getResults(), targets))
    buffers[result] = target;
}

void Lowering::lowerHistogram(triton::HistogramOp op) {
  auto type = op.getType();
  Buffer counts = allocate(convert(type), type.getShape());
  forTile(counts.shape, 0, [&](const Coords &coords) {
    storeBuffer(counts, coords, Lanes::uniform(constant(counts.element, 0)));
  });
  int64_t bins = type.getDimSize(0);
  auto src = cast<RankedTensorType>(op.getSrc().getType());
  forTile(
      src.getShape(), src.getRank() - 1,
      [&](const Coords &coords) {
        Value bin = toScalar(eval(op.getSrc(), coords));
        Value counted = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, bin,
                                              constant(bin.getType(), bins));
        if (op.getMask())
          counted = arith::AndIOp::create(b, counted,
                                          toScalar(eval(op.getMask(), coords)));
        Type i64 = b.getI64Type();
        if (bin.getType() != i64)
          bin = arith::ExtUIOp::create(b, i64, bin);
        auto branch = scf::IfOp::create(b, counted, false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        Coords at = {Lanes::uniform(bin)};
        Value count = toScalar(loadBuffer(counts, at));
        count = arith::AddIOp::create(b, count, constant(count.getType(), 1));
        storeBuffer(counts, at, Lanes::uniform(count));
      },
      /*maxLanes=*/1);
  buffers[op.getResult()] = counts;
}
