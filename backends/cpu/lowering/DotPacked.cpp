// SPDX-License-Identifier: Apache-2.0
//
// Products of packed operands: by vectors of words, whose sums stay in
// registers over K, and by the tiles of AMX.

#include "DotPacking.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

namespace {
/// A block of the result that stays in registers, as numbers of vectors or
/// tiles.
struct BlockSize {
  int64_t rows, columns;
};

/// The matrices of one batch.
struct Operands {
  LaneBuilder &b;
  PackedRows left;
  PackedPanels right;
  Value leftBase, rightBase, sumBase;
  /// The columns of the sum; the bytes of its elements, and of words.
  int64_t N, wordBytes;

  Value offset(Value base, Value row, int64_t rowBytes, Value column,
               int64_t columnBytes) const {
    Type i64 = b.getI64Type();
    Value bytes = b.createOrFold<arith::AddIOp>(
        b.createOrFold<arith::MulIOp>(row, b.constant(i64, rowBytes)),
        b.createOrFold<arith::MulIOp>(column, b.constant(i64, columnBytes)));
    return b.offset(base, bytes);
  }
  Value partOf(Value base, int64_t part, int64_t bytes) const {
    return part ? b.offset(base, b.constant(b.getI64Type(), part * bytes))
                : base;
  }
  Value plus(Value index, int64_t number) const {
    return b.createOrFold<arith::AddIOp>(index,
                                         b.constant(b.getI64Type(), number));
  }
  Value leftAt(Value row, int64_t add, Value word, int64_t part = 0) const {
    return offset(partOf(leftBase, part, left.partBytes), plus(row, add),
                  left.rowBytes, word, leftBytes);
  }
  /// Returns the addresses of `count` rows, in place or packed, as the test of
  /// the tile decides; none if rows are always packed.
  SmallVector<Value> rowsAt(Value row, int64_t count) const {
    SmallVector<Value> addresses;
    for (int64_t r = 0; left.inPlace && r < count; ++r)
      addresses.push_back(
          left.inPlace->addressOf(plus(row, r), leftAt(row, r, b.zero())));
    return addresses;
  }
  /// The panel of `column`, a multiple of a panel's columns.
  Value rightAt(Value column, int64_t addPanels, Value word,
                int64_t part = 0) const {
    int64_t bytesOfColumn = right.panelBytes / right.lanes;
    return offset(partOf(rightBase, part, right.partBytes),
                  plus(column, addPanels * right.lanes), bytesOfColumn, word,
                  right.lanes * wordBytes);
  }
  Value sumAt(Value row, int64_t addRows, Value column,
              int64_t addColumns) const {
    return offset(sumBase, plus(row, addRows), N * wordBytes,
                  plus(column, addColumns), wordBytes);
  }
};
} // namespace

/// Calls an intrinsic that returns nothing.
static void call(LaneBuilder &b, StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), operands);
}

/// Emits a loop over words along K.
static SmallVector<Value>
forWords(LaneBuilder &b, Value words, int64_t step, ValueRange inits,
         llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (std::optional<int64_t> number = getConstantIntValue(words))
    return b.forLoop(0, *number, step, inits, body);
  return b.forLoop(b.constant(b.getI64Type(), 0), words, step, inits, body);
}

/// Returns the word of the left operand at `address`, in all lanes.
static Value factorAt(LaneBuilder &b, const DotUnit &unit, Value address) {
  Type word = unit.repeatsLeft() ? b.getI32Type() : unit.words(1);
  Value loaded = LLVM::LoadOp::create(b, word, address, leftBytes);
  Value factor = b.splat(loaded, unit.lanes * unit.wordBytes() / leftBytes);
  return unit.repeatsLeft()
             ? LLVM::BitcastOp::create(b, unit.words(unit.lanes), factor)
             : factor;
}

/// Adds the product to a block of vectors at (i, j), a vector to a row.
/// `corrections` are subtracted from each row; there may be none.
static void multiplyVectors(const Operands &m, const DotUnit &unit,
                            BlockSize block, Value words, Type element,
                            bool startsAtZero, ArrayRef<Value> corrections,
                            Value i, Value j) {
  LaneBuilder &b = m.b;
  Type vector = VectorType::get(unit.lanes, element);
  Type wordVector = unit.words(unit.lanes);
  SmallVector<Value> sums;
  for (int64_t r = 0; r < block.rows; ++r)
    for (int64_t v = 0; v < block.columns; ++v) {
      Value start =
          startsAtZero
              ? Value(LLVM::ZeroOp::create(b, vector))
              : Value(LLVM::LoadOp::create(
                    b, vector, m.sumAt(i, r, j, v * unit.lanes), m.wordBytes));
      if (!corrections.empty())
        start = arith::SubIOp::create(b, start, corrections[v]);
      sums.push_back(start);
    }
  SmallVector<Value> rows = m.rowsAt(i, block.rows);
  for (Value address : rows)
    m.left.inPlace->prefetchNext(address, j, m.N, block.columns * unit.lanes);
  sums = forWords(b, words, 1, sums, [&](Value k, ValueRange carried) {
    SmallVector<Value> next(carried), row;
    for (int64_t v = 0; v < block.columns; ++v)
      row.push_back(LLVM::LoadOp::create(b, wordVector, m.rightAt(j, v, k),
                                         unit.lanes * m.wordBytes));
    for (int64_t r = 0; r < block.rows; ++r) {
      Value factor =
          rows.empty() ? factorAt(b, unit, m.leftAt(i, r, k))
                       : b.splat(m.left.inPlace->load(rows[r], k), unit.lanes);
      Location outer = b.getLoc();
      // An FMA that is the only one to use a factor may load it itself.
      if (!rows.empty() && block.columns == 1)
        b.setLoc(m.left.inPlace->location());
      for (int64_t v = 0; v < block.columns; ++v) {
        Value &sum = next[r * block.columns + v];
        sum = multiplyWords(b, unit, sum, factor, row[v]);
      }
      b.setLoc(outer);
    }
    return next;
  });
  for (int64_t r = 0; r < block.rows; ++r)
    for (int64_t v = 0; v < block.columns; ++v)
      LLVM::StoreOp::create(b, sums[r * block.columns + v],
                            m.sumAt(i, r, j, v * unit.lanes), m.wordBytes);
}

/// Returns 128 times the sum of each column of a block, for left bytes x that
/// are packed as x + 128.
static SmallVector<Value> correctionsOf(const Operands &m, const DotUnit &unit,
                                        BlockSize block, Value words, Value j) {
  LaneBuilder &b = m.b;
  Type vector = VectorType::get(unit.lanes, b.getI32Type());
  SmallVector<Value> zeros(block.columns, LLVM::ZeroOp::create(b, vector));
  return forWords(b, words, 1, zeros, [&](Value k, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (auto [v, sum] : llvm::enumerate(next)) {
      Value word = LLVM::LoadOp::create(b, vector, m.rightAt(j, v, k),
                                        unit.lanes * m.wordBytes);
      sum = multiplyWords(b, unit, sum, b.constant(vector, 0x80808080), word);
    }
    return next;
  });
}

/// Adds the product to a block of tiles at (i, j). Tile numbers: sums, then the
/// left operand's, then the right operand's. `streams` says that the panels do
/// not fit in the first level of the cache: then the loads of their tiles ask
/// the processor to leave the rows of the left operand there.
static void multiplyTiles(const Operands &m, const DotUnit &unit,
                          BlockSize block, Value words, bool startsAtZero,
                          bool streams, Value i, Value j) {
  LaneBuilder &b = m.b;
  Type i64 = b.getI64Type();
  auto tile = [&](int64_t number) { return b.constant(b.getI8Type(), number); };
  int64_t lefts = block.rows * block.columns, rights = lefts + block.rows;
  Value sumStride = b.constant(i64, m.N * m.wordBytes);
  Value leftStride = b.constant(i64, m.left.rowBytes);
  Value rightStride = b.constant(i64, tileRowBytes);
  auto forSums = [&](llvm::function_ref<void(Value, Value)> body) {
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t c = 0; c < block.columns; ++c)
        body(tile(r * block.columns + c),
             m.sumAt(i, r * tileRows, j, c * tileWords));
  };
  forSums([&](Value number, Value at) {
    if (startsAtZero)
      call(b, "llvm.x86.tilezero", {number});
    else
      call(b, "llvm.x86.tileloadd64", {number, at, sumStride});
  });
  forWords(b, words, tileWords, {}, [&](Value k, ValueRange) {
    // Each part of a right tile is loaded once. The last part of the left tiles
    // stays for the next one.
    int64_t loaded = -1;
    for (int64_t right = 0; right < unit.parts; ++right)
      for (int64_t step = 0; step < unit.parts; ++step) {
        int64_t left = right % 2 ? unit.parts - 1 - step : step;
        for (int64_t r = 0; r < block.rows && left != loaded; ++r)
          call(b, "llvm.x86.tileloadd64",
               {tile(lefts + r), m.leftAt(i, r * tileRows, k, left),
                leftStride});
        loaded = left;
        for (int64_t c = 0; c < block.columns; ++c) {
          if (step == 0)
            call(b, streams ? "llvm.x86.tileloaddt164" : "llvm.x86.tileloadd64",
                 {tile(rights + c), m.rightAt(j, c, k, right), rightStride});
          for (int64_t r = 0; r < block.rows; ++r)
            call(b, unit.tileProduct,
                 {tile(r * block.columns + c), tile(lefts + r),
                  tile(rights + c)});
        }
      }
    return SmallVector<Value>();
  });
  forSums([&](Value number, Value at) {
    call(b, "llvm.x86.tilestored64", {number, at, sumStride});
  });
}

/// Returns the block of tiles: two by two, if the result is that large. Then
/// each tile of an operand is used twice, and eight tiles are enough.
static BlockSize blockOfTiles(const DotShape &shape) {
  return {std::min<int64_t>(2, shape.M / tileRows),
          std::min<int64_t>(2, shape.N / tileWords)};
}

static BlockSize blockOfVectors(const DotShape &shape, const DotUnit &unit,
                                int64_t vectorBytes) {
  // AVX-512 has 32 registers, earlier extensions have 16. Half of them hold
  // sums.
  bool isAvx512 = vectorBytes == 64;
  int64_t columns = std::min<int64_t>(isAvx512 ? 4 : 2, shape.N / unit.lanes);
  return {std::min<int64_t>((isAvx512 ? 16 : 8) / columns, shape.M), columns};
}

void DotLowering::multiplyPacked(triton::DotOp op, const DotUnit &unit,
                                 const Buffer &sum, bool startsAtZero,
                                 const PackedRows &left,
                                 const PackedPanels &right, Value words) {
  DotShape shape = shapeOf(op);
  bool hasBegun = unit.isTiles() && beginTiles();
  BlockSize block =
      unit.isTiles() ? blockOfTiles(shape)
                     : blockOfVectors(shape, unit, context.target.vectorBytes);
  int64_t rowStep = block.rows * (unit.isTiles() ? tileRows : 1);
  auto multiplyBatch = [&](const Coords &batch) {
    auto inBatch = [&](Value base, int64_t bytes) {
      return b.offset(base, offsetOfBatch(b, shape.batches, batch, bytes));
    };
    Operands m{b,
               left,
               right,
               inBatch(left.base, left.batchBytes),
               inBatch(right.base, right.batchBytes),
               inBatch(sum.ptr, shape.M * shape.N * unit.wordBytes()),
               shape.N,
               unit.wordBytes()};
    int64_t columnStep = block.columns * unit.lanes;
    // The rows of a block stay in the first level of the cache. Panels come
    // from the second one, in the order of their addresses.
    bool streams = mayWait(op, unit.sum());
    if (unit.isTiles())
      return b.forLoop(0, shape.M, rowStep, [&](Value i) {
        b.forLoop(0, shape.N, columnStep, [&](Value j) {
          multiplyTiles(m, unit, block, words, startsAtZero, streams, i, j);
        });
      });
    b.forLoop(0, shape.N, columnStep, [&](Value j) {
      SmallVector<Value> corrections;
      if (unit.kind == DotUnit::Kind::Bytes)
        corrections = correctionsOf(m, unit, block, words, j);
      b.forLoop(0, shape.M, rowStep, [&](Value i) {
        multiplyVectors(m, unit, block, words, sum.element, startsAtZero,
                        corrections, i, j);
      });
    });
  };
  tiles.forTile(shape.batches, std::max<int>(0, shape.batches.size() - 1),
                multiplyBatch, /*maxLanes=*/1);
  if (hasBegun)
    endTiles();
}
