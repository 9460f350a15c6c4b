// SPDX-License-Identifier: Apache-2.0
//
// An operand is evaluated along the dimension in which its elements are
// contiguous. If that is K, neighbours form words as they are; else vectors of
// neighbouring rows are interleaved. If the words are then in the other order
// than the unit wants, they are written to a temporary matrix and transposed.

#include "DotPacking.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

static Value times(LaneBuilder &b, Value value, int64_t factor) {
  return b.createOrFold<arith::MulIOp>(value,
                                       b.constant(b.getI64Type(), factor));
}

static Value plus(LaneBuilder &b, Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}

Value mlir::triton_ext::cpu::offsetOfBatch(LaneBuilder &b,
                                           ArrayRef<int64_t> batches,
                                           ArrayRef<Lanes> batch,
                                           int64_t bytes) {
  Value number = b.constant(b.getI64Type(), 0);
  for (auto [size, coord] : llvm::zip(batches, batch))
    number = plus(b, times(b, number, size), coord.base);
  return times(b, number, bytes);
}

Value DotPacking::allocate(int64_t bytes) {
  return scratch.allocate(b.getI8Type(), {bytes}).ptr;
}

DotPacking::Matrices DotPacking::allocateMatrices(int64_t bytes) {
  int64_t partBytes = numBatches() * bytes;
  return {allocate(unit.parts * partBytes), bytes, partBytes};
}

bool DotPacking::liesAlongK(Value operand, int dimOfK) {
  int rank = shape.batches.size() + 2;
  int other = 2 * rank - 3 - dimOfK;
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getDimSize(other) == 1 || plan.contiguousDim(operand) != other;
}

void DotPacking::store(ArrayRef<Value> parts, const Matrices &target,
                       Value offset) {
  for (auto [part, words] : llvm::enumerate(parts)) {
    Value at =
        plus(b, offset, b.constant(b.getI64Type(), part * target.partBytes));
    LLVM::StoreOp::create(b, words, b.offset(target.base, at),
                          unit.wordBytes());
  }
}

/// Returns the bytes in front of the word in a matrix of panels.
Value DotPacking::offsetOfPanel(Value column, Value word) const {
  Type i64 = b.getI64Type();
  Value panel = b.createOrFold<arith::ShRUIOp>(
      column, b.constant(i64, llvm::Log2_64(unit.lanes)));
  Value lane =
      b.createOrFold<arith::AndIOp>(column, b.constant(i64, unit.lanes - 1));
  Value inPanel = plus(b, times(b, word, unit.lanes), lane);
  return times(b, plus(b, times(b, panel, slots * words * unit.lanes), inPanel),
               unit.wordBytes());
}

void DotPacking::packAlong(Value operand, bool isLeft, const Matrices &target,
                           int64_t rowBytes) {
  SmallVector<int64_t> sizes(ArrayRef<int64_t>(shape.batches));
  sizes.append({isLeft ? shape.M : shape.N, shape.K});
  int outer = sizes.size() - 2, inner = outer + 1;
  auto body = [&](const Coords &coords) {
    Coords at(coords);
    if (!isLeft)
      std::swap(at[outer], at[inner]);
    SmallVector<Value> parts = evaluate(operand, at, isLeft);
    int64_t bytes = bytesOfWord(isLeft) / unit.elementsOfWord();
    Value offset = plus(b, times(b, coords[outer].base, rowBytes),
                        times(b, coords[inner].base, bytes));
    offset =
        plus(b, offset,
             offsetOfBatch(ArrayRef(coords).drop_back(2), target.batchBytes));
    store(parts, target, offset);
  };
  // The coordinates of the left operand are those of the loops.
  Split split = isLeft ? splits.ofTensors(operand, inner) : Split();
  split.stops = false;
  tiles.forTile(sizes, inner, body, std::min<int64_t>(mostLanes, shape.K),
                split);
}

void DotPacking::packAcross(Value operand, bool isLeft, const Matrices &target,
                            int most, Place place) {
  SmallVector<int64_t> sizes(ArrayRef<int64_t>(shape.batches));
  sizes.append({words, isLeft ? shape.M : shape.N});
  int dimOfWord = sizes.size() - 2, other = dimOfWord + 1;
  auto body = [&](const Coords &coords) {
    Value word = coords[dimOfWord].base;
    SmallVector<SmallVector<Value>> elements(unit.parts);
    for (int64_t i = 0; i < unit.elementsOfWord(); ++i) {
      Value k = plus(b, times(b, word, unit.elementsOfWord()),
                     b.constant(b.getI64Type(), i));
      Coords at(coords);
      at[dimOfWord] = Lanes::uniform(k);
      if (isLeft)
        std::swap(at[dimOfWord], at[other]);
      for (auto [part, value] : llvm::enumerate(evaluate(operand, at, isLeft)))
        elements[part].push_back(value);
    }
    SmallVector<Value> parts;
    for (ArrayRef<Value> vectors : elements)
      parts.push_back(interleave(b, vectors));
    Value offset =
        plus(b, place(word, coords[other].base),
             offsetOfBatch(ArrayRef(coords).drop_back(2), target.batchBytes));
    store(parts, target, offset);
  };
  // If a word is an element, the coordinates of the right operand are those of
  // the loops.
  bool isInPlace = !isLeft && unit.elementsOfWord() == 1;
  Split split = isInPlace ? splits.ofTensors(operand, other) : Split();
  split.stops = false;
  tiles.forTile(sizes, other, body, most, split);
}

void DotPacking::transpose(const Matrices &from, int64_t rows, int64_t columns,
                           bool isLeft, const Matrices &target, Place place) {
  int64_t wordBytes = bytesOfWord(isLeft);
  int64_t size = std::min({context.target.vectorBytes / wordBytes, rows,
                           columns, int64_t(unit.lanes)});
  Type i64 = b.getI64Type();
  Type word = b.getIntegerType(8 * wordBytes);
  Type vector = size == 1 ? word : Type(VectorType::get(size, word));
  auto transposeBlock = [&](Value fromBase, Value targetBase, Value row,
                            Value column) {
    SmallVector<Value> block;
    for (int64_t i = 0; i < size; ++i) {
      Value index =
          plus(b, times(b, plus(b, row, b.constant(i64, i)), columns), column);
      block.push_back(LLVM::LoadOp::create(
          b, vector, b.offset(fromBase, times(b, index, wordBytes)),
          wordBytes));
    }
    // Each step interleaves vectors that are half of the block apart. After as
    // many steps as the size has bits, row i holds column i.
    SmallVector<int32_t> low, high;
    for (int64_t i = 0; i < size / 2; ++i) {
      low.append({int32_t(i), int32_t(size + i)});
      high.append({int32_t(size / 2 + i), int32_t(size + size / 2 + i)});
    }
    for (int64_t step = 1; step < size; step *= 2) {
      SmallVector<Value> next;
      for (int64_t i = 0; i < size / 2; ++i)
        for (ArrayRef<int32_t> mask : {ArrayRef(low), ArrayRef(high)})
          next.push_back(b.shuffle(block[i], block[i + size / 2], mask));
      block = next;
    }
    for (auto [i, words] : llvm::enumerate(block)) {
      Value at = place(plus(b, column, b.constant(i64, i)), row);
      LLVM::StoreOp::create(b, words, b.offset(targetBase, at), wordBytes);
    }
  };
  auto transposeBatch = [&](const Coords &batch) {
    b.forLoop(0, unit.parts, 1, [&](Value part) {
      auto baseOf = [&](const Matrices &matrices) {
        return b.offset(matrices.base,
                        plus(b, offsetOfBatch(batch, matrices.batchBytes),
                             times(b, part, matrices.partBytes)));
      };
      Value fromBase = baseOf(from), targetBase = baseOf(target);
      b.forLoop(0, rows, size, [&](Value row) {
        b.forLoop(0, columns, size, [&](Value column) {
          transposeBlock(fromBase, targetBase, row, column);
        });
      });
    });
  };
  tiles.forTile(shape.batches, std::max<int>(0, shape.batches.size() - 1),
                transposeBatch, /*maxLanes=*/1);
}

int64_t DotPacking::numBatches() const {
  int64_t batches = 1;
  for (int64_t size : shape.batches)
    batches *= size;
  return batches;
}

std::optional<PackedRows> DotPacking::packedLeft() {
  Type from = getElementTypeOrSelf(op.getA().getType());
  int64_t rowBytes = words * leftBytes;
  if (auto it = context.buffers.find(op.getA());
      it != context.buffers.end() && it->second.element == unit.element &&
      unit.kind != DotUnit::Kind::Bytes && !unit.repeatsLeft() &&
      from.getIntOrFloatBitWidth() == unit.element.getIntOrFloatBitWidth())
    return PackedRows{it->second.ptr, rowBytes, shape.M * rowBytes, 0};
  return std::nullopt;
}

PackedRows DotPacking::allocateLeft() {
  // If rows were a large power of two of bytes apart, the rows of a tile would
  // compete for few sets of the cache.
  constexpr int64_t line = 64, most = 512;
  int64_t rowBytes = slots * words * leftBytes;
  if (rowBytes >= most)
    rowBytes += line;
  auto [base, batchBytes, partBytes] = allocateMatrices(shape.M * rowBytes);
  return {base, rowBytes, batchBytes, partBytes};
}

PackedPanels DotPacking::allocateRight(int64_t blocks) {
  int64_t panelBytes = slots * words * unit.lanes * unit.wordBytes();
  int64_t bytes = shape.N / unit.lanes * panelBytes;
  int64_t partBytes = numBatches() * bytes;
  return {allocate(blocks * unit.parts * partBytes), unit.lanes, panelBytes,
          bytes, partBytes};
}

PackedPanels DotPacking::blockOf(const PackedPanels &panels,
                                 Value block) const {
  PackedPanels result = panels;
  result.base =
      b.offset(panels.base, times(b, block, unit.parts * panels.partBytes));
  return result;
}

void DotPacking::packLeft(const PackedRows &rows, Value slot) {
  Value operand = op.getA();
  Matrices target{b.offset(rows.base, times(b, slot, words * leftBytes)),
                  rows.batchBytes, rows.partBytes};
  if (liesAlongK(operand, shape.batches.size() + 1)) {
    packAlong(operand, /*isLeft=*/true, target, rows.rowBytes);
    return;
  }
  Matrices columns = allocateMatrices(words * shape.M * leftBytes);
  packAcross(operand, /*isLeft=*/true, columns,
             std::min<int64_t>(mostLanes, shape.M), [&](Value word, Value row) {
               return times(b, plus(b, times(b, word, shape.M), row),
                            leftBytes);
             });
  transpose(columns, words, shape.M, /*isLeft=*/true, target,
            [&](Value row, Value word) {
              return plus(b, times(b, row, rows.rowBytes),
                          times(b, word, leftBytes));
            });
}

void DotPacking::packRight(const PackedPanels &panels, Value slot) {
  Value operand = op.getB();
  Matrices target{
      b.offset(panels.base,
               times(b, slot, words * unit.lanes * unit.wordBytes())),
      panels.batchBytes, panels.partBytes};
  if (!liesAlongK(operand, shape.batches.size())) {
    packAcross(
        operand, /*isLeft=*/false, target, unit.lanes,
        [&](Value word, Value column) { return offsetOfPanel(column, word); });
    return;
  }
  Matrices rows = allocateMatrices(words * shape.N * unit.wordBytes());
  packAlong(operand, /*isLeft=*/false, rows, words * unit.wordBytes());
  transpose(
      rows, shape.N, words, /*isLeft=*/false, target,
      [&](Value word, Value column) { return offsetOfPanel(column, word); });
}
