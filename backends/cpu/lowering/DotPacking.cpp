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

/// Returns the elements of vectors of one length in turn: the first of each,
/// then the second of each, and so on.
static Value interleave(LaneBuilder &b, ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  // Halves are interleaved first, then the results: (a c) and (b d), then
  // (a b c d).
  SmallVector<Value> even, odd;
  for (auto [i, vector] : llvm::enumerate(vectors))
    (i % 2 ? odd : even).push_back(vector);
  Value first = interleave(b, even), second = interleave(b, odd);
  int size = cast<VectorType>(first.getType()).getNumElements();
  SmallVector<int32_t> mask;
  for (int i = 0; i < size; ++i)
    mask.append({i, size + i});
  return b.shuffle(first, second, mask);
}

Value DotPacking::allocate(int64_t bytes) {
  return scratch.allocate(b.getI8Type(), {bytes}).ptr;
}

bool DotPacking::liesAlongK(Value operand, int dimOfK) {
  int rank = shape.batches.size() + 2;
  int other = 2 * rank - 3 - dimOfK;
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getDimSize(other) == 1 || plan.contiguousDim(operand) != other;
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

Value DotPacking::narrow(Value value, Type from, bool isLeft) {
  if (unit.isFloats())
    return conversion.convert(op, value, from, unit.element);
  if (auto floating = dyn_cast<FloatType>(from)) {
    if (floating.getWidth() > 8)
      return value;
    // bf16 represents every 8-bit float, so the upper half of the f32 suffices.
    Type i32 = like(value, b.getI32Type());
    Value wide = conversion.convert(op, value, from, b.getF32Type());
    Value bits = arith::BitcastOp::create(b, i32, wide);
    bits = arith::ShRUIOp::create(b, bits, b.constant(i32, 16));
    return arith::TruncIOp::create(b, like(value, unit.element), bits);
  }
  if (unit.kind == DotUnit::Kind::Pairs)
    return arith::ExtSIOp::create(b, like(value, unit.element), value);
  // The left bytes are unsigned: x + 128 for x.
  if (unit.kind == DotUnit::Kind::Bytes && isLeft)
    return arith::XOrIOp::create(b, value, b.constant(value.getType(), 0x80));
  return value;
}

Value DotPacking::evaluate(Value operand, const Coords &at, bool isLeft) {
  // What a stored operand was rounded from may have changed since: it is loaded
  // where the operand is stored, and a store may lie between there and here.
  if (Value wide = roundedFrom(context.target, unit, operand);
      wide && !plan.isStored(operand)) {
    Value value = b.toVector(evaluator.eval(wide, at));
    auto vector = dyn_cast<VectorType>(value.getType());
    if (vector && vector.getNumElements() >= 8)
      return roundToBrainFloats(b, value);
  }
  Value value = b.toVector(evaluator.eval(operand, at));
  value = narrow(value, getElementTypeOrSelf(operand.getType()), isLeft);
  if (!isLeft || !unit.repeatsLeft())
    return value;
  return isa<VectorType>(value.getType()) ? interleave(b, {value, value})
                                          : b.splat(value, 2);
}

void DotPacking::packAlong(Value operand, bool isLeft, Value target,
                           int64_t rowBytes, int64_t batchBytes) {
  SmallVector<int64_t> sizes(ArrayRef<int64_t>(shape.batches));
  sizes.append({isLeft ? shape.M : shape.N, shape.K});
  int outer = sizes.size() - 2, inner = outer + 1;
  auto body = [&](const Coords &coords) {
    Coords at(coords);
    if (!isLeft)
      std::swap(at[outer], at[inner]);
    Value value = evaluate(operand, at, isLeft);
    int64_t bytes = bytesOfWord(isLeft) / unit.elementsOfWord();
    Value offset = plus(b, times(b, coords[outer].base, rowBytes),
                        times(b, coords[inner].base, bytes));
    offset = plus(b, offset,
                  offsetOfBatch(ArrayRef(coords).drop_back(2), batchBytes));
    LLVM::StoreOp::create(b, value, b.offset(target, offset), unit.wordBytes());
  };
  // The coordinates of the left operand are those of the loops.
  Split split = isLeft ? splits.ofTensors(operand, inner) : Split();
  split.stops = false;
  tiles.forTile(sizes, inner, body, std::min<int64_t>(mostLanes, shape.K),
                split);
}

void DotPacking::packAcross(Value operand, bool isLeft, Value target,
                            int64_t batchBytes, int most, Place place) {
  SmallVector<int64_t> sizes(ArrayRef<int64_t>(shape.batches));
  sizes.append({words, isLeft ? shape.M : shape.N});
  int dimOfWord = sizes.size() - 2, other = dimOfWord + 1;
  auto body = [&](const Coords &coords) {
    Value word = coords[dimOfWord].base;
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < unit.elementsOfWord(); ++i) {
      Value k = plus(b, times(b, word, unit.elementsOfWord()),
                     b.constant(b.getI64Type(), i));
      Coords at(coords);
      at[dimOfWord] = Lanes::uniform(k);
      if (isLeft)
        std::swap(at[dimOfWord], at[other]);
      vectors.push_back(evaluate(operand, at, isLeft));
    }
    Value offset =
        plus(b, place(word, coords[other].base),
             offsetOfBatch(ArrayRef(coords).drop_back(2), batchBytes));
    LLVM::StoreOp::create(b, interleave(b, vectors), b.offset(target, offset),
                          unit.wordBytes());
  };
  // If a word is an element, the coordinates of the right operand are those of
  // the loops.
  bool isInPlace = !isLeft && unit.elementsOfWord() == 1;
  Split split = isInPlace ? splits.ofTensors(operand, other) : Split();
  split.stops = false;
  tiles.forTile(sizes, other, body, most, split);
}

void DotPacking::transpose(Value from, int64_t rows, int64_t columns,
                           bool isLeft, Value target, int64_t batchBytes,
                           Place place) {
  int64_t wordBytes = bytesOfWord(isLeft);
  int64_t size = std::min({context.target.vectorBytes / wordBytes, rows,
                           columns, int64_t(unit.lanes)});
  Type i64 = b.getI64Type();
  Type word = b.getIntegerType(8 * wordBytes);
  Type vector = size == 1 ? word : Type(VectorType::get(size, word));
  auto transposeBlock = [&](Value row, Value column, Value offset) {
    SmallVector<Value> block;
    for (int64_t i = 0; i < size; ++i) {
      Value index =
          plus(b, times(b, plus(b, row, b.constant(i64, i)), columns), column);
      Value at = plus(b, times(b, index, wordBytes),
                      times(b, offset, rows * columns * wordBytes));
      block.push_back(
          LLVM::LoadOp::create(b, vector, b.offset(from, at), wordBytes));
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
      Value at = plus(b, place(plus(b, column, b.constant(i64, i)), row),
                      times(b, offset, batchBytes));
      LLVM::StoreOp::create(b, words, b.offset(target, at), wordBytes);
    }
  };
  auto transposeBatch = [&](const Coords &batch) {
    Value number = offsetOfBatch(batch, 1);
    b.forLoop(0, rows, size, [&](Value row) {
      b.forLoop(0, columns, size,
                [&](Value column) { transposeBlock(row, column, number); });
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
    return PackedRows{it->second.ptr, rowBytes, shape.M * rowBytes};
  return std::nullopt;
}

PackedRows DotPacking::allocateLeft() {
  // If rows were a large power of two of bytes apart, the rows of a tile would
  // compete for few sets of the cache.
  constexpr int64_t line = 64, most = 512;
  int64_t rowBytes = slots * words * leftBytes;
  if (rowBytes >= most)
    rowBytes += line;
  return {allocate(numBatches() * shape.M * rowBytes), rowBytes,
          shape.M * rowBytes};
}

PackedPanels DotPacking::allocateRight(int64_t blocks) {
  int64_t panelBytes = slots * words * unit.lanes * unit.wordBytes();
  int64_t bytes = shape.N / unit.lanes * panelBytes;
  return {allocate(blocks * numBatches() * bytes), unit.lanes, panelBytes,
          bytes};
}

PackedPanels DotPacking::blockOf(const PackedPanels &panels,
                                 Value block) const {
  PackedPanels result = panels;
  result.base =
      b.offset(panels.base, times(b, block, numBatches() * panels.batchBytes));
  return result;
}

void DotPacking::packLeft(const PackedRows &rows, Value slot) {
  Value operand = op.getA();
  Value target = b.offset(rows.base, times(b, slot, words * leftBytes));
  if (liesAlongK(operand, shape.batches.size() + 1)) {
    packAlong(operand, /*isLeft=*/true, target, rows.rowBytes, rows.batchBytes);
    return;
  }
  int64_t bytes = words * shape.M * leftBytes;
  Value columns = allocate(numBatches() * bytes);
  packAcross(operand, /*isLeft=*/true, columns, bytes,
             std::min<int64_t>(mostLanes, shape.M), [&](Value word, Value row) {
               return times(b, plus(b, times(b, word, shape.M), row),
                            leftBytes);
             });
  transpose(columns, words, shape.M, /*isLeft=*/true, target, rows.batchBytes,
            [&](Value row, Value word) {
              return plus(b, times(b, row, rows.rowBytes),
                          times(b, word, leftBytes));
            });
}

void DotPacking::packRight(const PackedPanels &panels, Value slot) {
  Value operand = op.getB();
  Value target = b.offset(
      panels.base, times(b, slot, words * unit.lanes * unit.wordBytes()));
  if (!liesAlongK(operand, shape.batches.size())) {
    packAcross(
        operand, /*isLeft=*/false, target, panels.batchBytes, unit.lanes,
        [&](Value word, Value column) { return offsetOfPanel(column, word); });
    return;
  }
  int64_t bytes = words * shape.N * unit.wordBytes();
  Value rows = allocate(numBatches() * bytes);
  packAlong(operand, /*isLeft=*/false, rows, words * unit.wordBytes(), bytes);
  transpose(
      rows, shape.N, words, /*isLeft=*/false, target, panels.batchBytes,
      [&](Value word, Value column) { return offsetOfPanel(column, word); });
}
