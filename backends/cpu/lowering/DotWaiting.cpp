// SPDX-License-Identifier: Apache-2.0
//
// Products in a loop over K that is too short for their unit, or whose right
// operand programs share (then there may be one slot only). In each iteration,
// such a product packs its operands only, beside those of the iterations
// before. Once all slots are full, and behind the loop, the sum is loaded,
// added to and stored.

#include "SharedPanels.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

SmallVector<triton::DotOp> DotLowering::beginWaiting(scf::ForOp loop) {
  SmallVector<triton::DotOp> found;
  for (auto op : loop.getBody()->getOps<triton::DotOp>()) {
    std::optional<DotUnit> unit = chooseDotUnit(context.target, op);
    int64_t slots = unit ? joinedIterations(op, *unit) : 1;
    const SharedPanel *panel = shared.of(op);
    if (!panel && (slots == 1 || multipliesStoredRight(plan, op, *unit)))
      continue;
    DotPacking packing(*this, conversion, *unit, op, slots);
    // Iterations that are not kept use one more block.
    int64_t blocks = panel ? panel->iterations / slots + 1 : 1;
    waiting[op] = std::make_shared<WaitingProduct>(
        WaitingProduct{*unit,
                       slots,
                       packing.allocateLeft(),
                       packing.allocateRight(blocks),
                       panel,
                       {}});
    if (panel)
      shared.begin(*panel);
    found.push_back(op);
  }
  return found;
}

void DotPacking::clear(const PackedRows &rows, const PackedPanels &panels,
                       Value from, Value to) {
  auto at = [&](Value base, Value x, int64_t xBytes, Value y, int64_t yBytes) {
    auto bytes = [&](Value number, int64_t size) {
      return arith::MulIOp::create(b, number, b.constant(b.getI64Type(), size));
    };
    return b.offset(
        base, arith::AddIOp::create(b, bytes(x, xBytes), bytes(y, yBytes)));
  };
  auto zeros = [&](int64_t size) {
    Type word = b.getIntegerType(8 * unit.wordBytes());
    return b.constant(size == 1 ? word : Type(VectorType::get(size, word)), 0);
  };
  auto clearPart = [&](Value slot, int64_t part) {
    auto partOf = [&](Value base, int64_t bytes) {
      return b.offset(base, b.constant(b.getI64Type(), part * bytes));
    };
    Value leftBase = partOf(rows.base, rows.partBytes);
    Value rightBase = partOf(panels.base, panels.partBytes);
    b.forLoop(0, numBatches() * shape.M, 1, [&](Value row) {
      LLVM::StoreOp::create(
          b, zeros(words),
          at(leftBase, row, rows.rowBytes, slot, words * leftBytes), leftBytes);
    });
    int64_t numPanels = numBatches() * shape.N / unit.lanes;
    b.forLoop(0, numPanels, 1, [&](Value panel) {
      Value base = at(rightBase, panel, panels.panelBytes, slot,
                      words * unit.lanes * unit.wordBytes());
      b.forLoop(0, words, 1, [&](Value word) {
        Value bytes = arith::MulIOp::create(
            b, word, b.constant(b.getI64Type(), unit.lanes * unit.wordBytes()));
        LLVM::StoreOp::create(b, zeros(unit.lanes), b.offset(base, bytes),
                              unit.wordBytes());
      });
    });
  };
  b.forLoop(from, to, 1, {}, [&](Value slot, ValueRange) {
    for (int64_t part = 0; part < unit.parts; ++part)
      clearPart(slot, part);
    return SmallVector<Value>();
  });
}

void DotLowering::setIteration(ArrayRef<triton::DotOp> products,
                               Value iteration) {
  for (triton::DotOp op : products)
    waiting[op]->iteration = iteration;
}

/// Returns the slot of an iteration.
static Value slotOf(LaneBuilder &b, Value iteration, int64_t slots) {
  return arith::AndIOp::create(b, iteration,
                               b.constant(b.getI64Type(), slots - 1));
}

/// Emits `body`, which runs if the integers compare as `predicate` says.
static void emitIf(LaneBuilder &b, arith::CmpIPredicate predicate, Value value,
                   int64_t number, llvm::function_ref<void()> body) {
  b.ifTrue(arith::CmpIOp::create(b, predicate, value,
                                 b.constant(value.getType(), number)),
           body);
}

/// Returns the panels of the block of an iteration.
static PackedPanels panelsOf(LaneBuilder &b, const DotPacking &packing,
                             const WaitingProduct &product, Value iteration) {
  if (!product.shared)
    return product.right;
  Type i64 = b.getI64Type();
  Value block =
      arith::DivUIOp::create(b, iteration, b.constant(i64, product.slots));
  Value last = arith::DivUIOp::create(b, product.shared->kept,
                                      b.constant(i64, product.slots));
  return packing.blockOf(product.right, arith::MinUIOp::create(b, block, last));
}

void DotLowering::lowerWaiting(triton::DotOp op,
                               const WaitingProduct &product) {
  const auto &[unit, slots, left, _, panel, iteration] = product;
  DotPacking packing(*this, conversion, unit, op, slots);
  Value slot = slotOf(b, iteration, slots);
  PackedRows rows = left;
  rows.inPlace = RowsInPlace::find(*this, unit, op, slots);
  if (!rows.inPlace)
    packing.packLeft(left, slot);
  else if (Value isPossible = rows.inPlace->test())
    b.ifTrue(arith::XOrIOp::create(b, isPossible, b.constant(b.getI1Type(), 1)),
             [&] { packing.packLeft(left, slot); });
  PackedPanels right = panelsOf(b, packing, product, iteration);
  if (panel)
    shared.packOnce(*panel, iteration, [&] { packing.packRight(right, slot); });
  else
    packing.packRight(right, slot);
  Buffer sum = context.buffers.find(op.getC())->second;
  int64_t words = slots * shapeOf(op).K / unit.elementsOfWord();
  emitIf(b, arith::CmpIPredicate::eq, slot, slots - 1, [&] {
    multiplyPacked(op, unit, sum, /*startsAtZero=*/false, rows, right,
                   b.constant(b.getI64Type(), words));
  });
  context.buffers[op.getResult()] = sum;
}

void DotLowering::multiplyRest(ArrayRef<triton::DotOp> products,
                               Value iterations) {
  Type i64 = b.getI64Type();
  for (triton::DotOp op : products) {
    const WaitingProduct &product = *waiting[op];
    const auto &[unit, slots, left, _, panel, iteration] = product;
    DotPacking packing(*this, conversion, unit, op, slots);
    Value full = slotOf(b, iterations, slots);
    int64_t words = shapeOf(op).K / unit.elementsOfWord();
    int64_t slotsOfTile =
        unit.isTiles() ? std::max<int64_t>(1, tileWords / words) : 1;
    emitIf(b, arith::CmpIPredicate::ne, full, 0, [&] {
      Value end = full;
      PackedPanels right = panelsOf(b, packing, product, iterations);
      // Tiles are whole: zeros fill the last one.
      if (slotsOfTile > 1) {
        end = arith::AddIOp::create(b, full, b.constant(i64, slotsOfTile - 1));
        end = arith::AndIOp::create(b, end, b.constant(i64, -slotsOfTile));
        packing.clear(left, right, full, end);
        if (panel)
          shared.limit(*panel, iterations);
      }
      multiplyPacked(op, unit, context.buffers.find(op.getC())->second,
                     /*startsAtZero=*/false, left, right,
                     arith::MulIOp::create(b, end, b.constant(i64, words)));
    });
    waiting.erase(op);
  }
}
