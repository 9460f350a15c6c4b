// SPDX-License-Identifier: Apache-2.0
//
// The pointers and the mask of a load are evaluated for whole rows. What is not
// known when the kernel is compiled is tested once for each tile, for all rows:
// whether a stride is 1, whether pointers in scratch memory are contiguous, and
// whether the mask is on.

#include "DotInPlace.h"

#include "LoadPrefetch.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// The bytes of an element: only rows of f32 are read in place.
static constexpr int64_t wordBytes = 4;

RowsInPlace::RowsInPlace(RootParts parts, triton::LoadOp load,
                         const DotShape &shape)
    : RootParts(parts), b(context.b), pointers(load.getPtr()),
      mask(load.getMask()), line(load.getLoc()), M(shape.M), K(shape.K),
      distance(bytesToNextIteration(load)) {}

std::shared_ptr<RowsInPlace> RowsInPlace::find(RootParts parts,
                                               const DotUnit &unit,
                                               triton::DotOp op,
                                               int64_t slots) {
  // The rows of a larger tile are not prefetched. If they are whole pages
  // apart, as those of a matrix often are, their lines share few sets of the
  // second-level cache. Packed rows lie behind each other.
  constexpr int64_t mostBytes = 128 << 10;
  DotShape shape = shapeOf(op);
  auto load = op.getA().getDefiningOp<triton::LoadOp>();
  // A product that waits multiplies in a later iteration, when a store may have
  // changed the rows. For the same reason, the plan stores a load in scratch
  // memory if something between it and the product may write.
  // Narrower floats are converted when they are packed.
  if (!unit.isFloats() || !op.getA().getType().getElementType().isF32() ||
      slots > 1 || !load || !shape.batches.empty() ||
      shape.M * shape.K * wordBytes > mostBytes ||
      parts.plan.isStored(op.getA()))
    return nullptr;
  RowsInPlace rows(parts, load, shape);
  return rows.emitTest() ? std::make_shared<RowsInPlace>(rows) : nullptr;
}

static Value both(LaneBuilder &b, Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(x, y);
}

Value RowsInPlace::emitIsContiguous(Value row) {
  Value isOn = b.constant(b.getI1Type(), 1), next;
  bool isKnown = false;
  auto eval = [&](int64_t first) {
    Value at = b.constant(b.getI64Type(), first);
    Lanes ptr =
        evaluator.eval(pointers, {Lanes::uniform(row), b.contiguous(at, 1)});
    isKnown = ptr.isPattern() && isContiguous(ptr.pattern, wordBytes);
    if (isKnown && ptr.holds)
      isOn = both(b, isOn, ptr.holds);
    return ptr;
  };
  evaluator.withScope(K, [&] { eval(0); });
  // Of pointers in scratch memory, only groups of lanes are known to be
  // contiguous. These have to lie behind each other.
  auto testGroup = [&](int64_t first) {
    Lanes ptr = eval(first);
    if (!isKnown)
      return;
    Type i64 = b.getI64Type();
    Value address = LLVM::PtrToIntOp::create(b, i64, ptr.base);
    address =
        b.createOrFold<arith::AddIOp>(address, b.constant(i64, ptr.pattern[0]));
    if (next)
      isOn = both(
          b, isOn,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, address, next));
    next = arith::AddIOp::create(b, address,
                                 b.constant(i64, mostLanes * wordBytes));
  };
  if (!isKnown)
    for (int64_t first = 0; first < K && (isKnown || !first);
         first += mostLanes)
      evaluator.withScope(mostLanes, [&] { testGroup(first); });
  return isKnown ? isOn : Value();
}

Value RowsInPlace::emitIsUnmasked(Value row) {
  Split split = splits.ofTensors(mask, 1);
  Value isOn;
  evaluator.withScope(K, [&] {
    Coords coords = {Lanes::uniform(row), b.contiguous(b.zero(), 1)};
    splits.assume(split, coords);
    if (Lanes lanes = evaluator.eval(mask, coords); lanes.isUniform())
      isOn = lanes.base;
  });
  if (!isOn || split.evaluated.empty())
    return isOn;
  Coords coords = {Lanes::uniform(row), Lanes::uniform(b.zero())};
  Value full = splits.ends(split, coords, K, K, K).full;
  return both(b, isOn,
              b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, full,
                                            b.constant(b.getI64Type(), K)));
}

bool RowsInPlace::emitTest() {
  bool isTested = false, mayBePossible = false;
  auto testRow = [&](Value row, ValueRange carried) -> SmallVector<Value> {
    context.facts.setLimit(row, M - 1);
    Value isOn = emitIsContiguous(row);
    if (isOn && mask) {
      Value isUnmasked = emitIsUnmasked(row);
      isOn = isUnmasked ? both(b, isOn, isUnmasked) : Value();
    }
    mayBePossible = bool(isOn);
    if (!mayBePossible)
      return {carried[0]};
    isTested = !matchPattern(isOn, m_One());
    return {both(b, carried[0], isOn)};
  };
  Value on = b.constant(b.getI1Type(), 1);
  Value all = b.forLoop(0, M, 1, on, testRow)[0];
  if (isTested)
    isPossible = all;
  return mayBePossible;
}

Value RowsInPlace::addressOf(Value row, Value packed) const {
  Value address;
  evaluator.withScope(1, [&] {
    address = b.toScalar(evaluator.eval(
        pointers, {Lanes::uniform(row), Lanes::uniform(b.zero())}));
  });
  if (isPossible)
    address = arith::SelectOp::create(b, isPossible, address, packed);
  return address;
}

Value RowsInPlace::load(Value address, Value k) const {
  Location outer = b.getLoc();
  b.setLoc(line);
  Value bytes =
      b.createOrFold<arith::MulIOp>(k, b.constant(b.getI64Type(), wordBytes));
  Value loaded = LLVM::LoadOp::create(b, b.getF32Type(),
                                      b.offset(address, bytes), wordBytes);
  b.setLoc(outer);
  return loaded;
}

void RowsInPlace::prefetchNext(Value address, Value column, int64_t columns,
                               int64_t step) const {
  constexpr int64_t lineBytes = 64;
  if (!distance)
    return;
  Type i64 = b.getI64Type();
  int64_t lines = llvm::divideCeil(K * wordBytes, lineBytes);
  int64_t bytes = llvm::divideCeil(lines, columns / step) * lineBytes;
  Value part = b.createOrFold<arith::DivUIOp>(column, b.constant(i64, step));
  Value first = b.createOrFold<arith::MulIOp>(part, b.constant(i64, bytes));
  for (int64_t at = 0; at < bytes; at += lineBytes) {
    Value offset =
        b.createOrFold<arith::AddIOp>(first, b.constant(i64, distance + at));
    LLVM::Prefetch::create(b, b.offset(address, offset), /*rw=*/0, /*hint=*/3,
                           /*cache=*/1);
  }
}
