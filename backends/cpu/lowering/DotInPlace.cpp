// SPDX-License-Identifier: Apache-2.0
//
// The pointers and the mask of a load are evaluated for whole rows. At compile
// time, the elements of a row have to be contiguous unless an index wraps
// around. The mask and such a wrap are tested once for each tile, at run time.

#include "DotInPlace.h"

#include "LoadPrefetch.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

RowsInPlace::RowsInPlace(RootParts parts, triton::LoadOp load,
                         const DotShape &shape)
    : RootParts(parts), b(context.b), pointers(load.getPtr()),
      mask(load.getMask()), line(load.getLoc()), M(shape.M), K(shape.K),
      distance(bytesToNextIteration(load)) {}

std::shared_ptr<RowsInPlace> RowsInPlace::find(RootParts parts,
                                               const DotUnit &unit,
                                               triton::DotOp op,
                                               int64_t slots) {
  // Rows of a matrix are often whole pages apart. Then their lines share few
  // sets of the second-level cache. For example, with rows of 8 KB and 2048
  // sets of 16 ways, 64 KB of rows of 256 bytes fit: twice this many, for the
  // iteration that runs and for the next one, which is prefetched. Packed rows
  // lie behind each other.
  constexpr int64_t mostBytes = 32 << 10;
  DotShape shape = shapeOf(op);
  auto load = op.getA().getDefiningOp<triton::LoadOp>();
  // A product that waits multiplies in a later iteration, when a store may have
  // changed the rows. For the same reason, the plan stores a load in scratch
  // memory if something between it and the product may write.
  if (!unit.isFloats() || slots > 1 || !load || !shape.batches.empty() ||
      shape.M * shape.K * wordBytes > mostBytes ||
      parts.plan.isStored(op.getA()))
    return nullptr;
  RowsInPlace rows(parts, load, shape);
  return rows.emitTest() ? std::make_shared<RowsInPlace>(rows) : nullptr;
}

Coords RowsInPlace::wholeRow(Value row) const {
  return {Lanes::uniform(row), b.contiguous(b.zero(), 1)};
}

bool RowsInPlace::emitTest() {
  Split split = mask ? splits.ofTensors(mask, 1) : Split();
  bool isContiguous = false, isTested = false;
  auto both = [&](Value x, Value y) {
    return b.createOrFold<arith::AndIOp>(x, y);
  };
  // Whether a row is possible may depend on the row.
  auto testRow = [&](Value row, ValueRange carried) -> SmallVector<Value> {
    context.facts.setLimit(row, M - 1);
    Value isOn = b.constant(b.getI1Type(), 1);
    evaluator.withScope(K, [&] {
      Coords coords = wholeRow(row);
      Lanes ptr = evaluator.eval(pointers, coords);
      isContiguous =
          ptr.isPattern() && cpu::isContiguous(ptr.pattern, wordBytes);
      if (ptr.holds)
        isOn = both(isOn, ptr.holds);
      if (!mask)
        return;
      splits.assume(split, coords);
      Lanes lanes = evaluator.eval(mask, coords);
      isContiguous &= lanes.isUniform();
      if (lanes.isUniform())
        isOn = both(isOn, lanes.base);
    });
    if (!split.evaluated.empty()) {
      Coords coords = {Lanes::uniform(row), Lanes::uniform(b.zero())};
      Value full = splits.ends(split, coords, K, K, K).full;
      isOn = both(isOn,
                  b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, full,
                                                b.constant(b.getI64Type(), K)));
    }
    isTested = !matchPattern(isOn, m_One());
    return {both(carried[0], isOn)};
  };
  Value on = b.constant(b.getI1Type(), 1);
  Value all = b.forLoop(0, M, 1, on, testRow)[0];
  if (isTested)
    isPossible = all;
  return isContiguous;
}

Value RowsInPlace::addressOf(Value row, Value packed) const {
  Value address;
  evaluator.withScope(K, [&] {
    Lanes ptr = evaluator.eval(pointers, wholeRow(row));
    address = ptr.vec ? b.extract(ptr.vec, 0) : ptr.base;
    if (ptr.isPattern())
      address = b.offset(address, b.constant(b.getI64Type(), ptr.pattern[0]));
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
