// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: the operands are written to scratch memory in the type that
// is multiplied; then each block of the result stays in registers while the
// code loops over K. This file multiplies row-major matrices; DotPacked.cpp
// multiplies operands that are packed in words.

#include "DotPacking.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

namespace {
/// The block of a result that stays in registers: `rows` times `columns`
/// vectors of `lanes` elements.
struct Blocking {
  Blocking(int64_t vectorBytes, int64_t elementBytes, int64_t M, int64_t N) {
    // Half of the registers hold sums, the other half operands. AVX-512 has 32
    // registers, earlier extensions have 16.
    bool isAvx512 = vectorBytes == 64;
    int sums = isAvx512 ? 16 : 8;
    lanes = std::min<int64_t>(vectorBytes / elementBytes, N);
    // A block has about as many columns as rows, so that each loaded operand is
    // used often.
    columns = std::min<int64_t>(isAvx512 ? 4 : 2, N / lanes);
    rows = std::min<int64_t>(sums / columns, M);
  }
  int lanes, columns, rows;
};

/// A row-major matrix in memory.
struct Matrix {
  LaneBuilder &b;
  Value base;
  Type element;
  int64_t columns;

  /// Returns the address of (row + addRow, column + addColumn).
  Value at(Value row, int64_t addRow, Value column, int64_t addColumn) const {
    Value index =
        b.createOrFold<arith::MulIOp>(row, b.constant(b.getI64Type(), columns));
    index = b.createOrFold<arith::AddIOp>(index, column);
    Value address = LLVM::GEPOp::create(b, base.getType(), element, base,
                                        ArrayRef<LLVM::GEPArg>{index});
    int32_t constantPart = addRow * columns + addColumn;
    if (!constantPart)
      return address;
    return LLVM::GEPOp::create(b, base.getType(), element, address,
                               ArrayRef<LLVM::GEPArg>{constantPart});
  }
};
} // namespace

/// Adds the product to the block of `sum` at (i, j).
static void multiplyBlock(LaneBuilder &b, bool hasFma, const Blocking &block,
                          int64_t K, const Matrix &left, const Matrix &right,
                          const Matrix &sum, Value i, Value j) {
  const auto [lanes, columns, rows] = block;
  Type element = sum.element;
  int64_t bytes = bytesOf(element);
  Type vector = lanes == 1 ? element : Type(VectorType::get(lanes, element));
  SmallVector<Value> sums;
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < columns; ++v)
      sums.push_back(
          LLVM::LoadOp::create(b, vector, sum.at(i, r, j, v * lanes), bytes));
  sums = b.forLoop(0, K, 1, sums, [&](Value k, ValueRange carried) {
    SmallVector<Value> next(carried), row;
    for (int v = 0; v < columns; ++v)
      row.push_back(
          LLVM::LoadOp::create(b, vector, right.at(k, 0, j, v * lanes), bytes));
    for (int r = 0; r < rows; ++r) {
      Value factor = b.splat(
          LLVM::LoadOp::create(b, element, left.at(i, r, k, 0), bytes), lanes);
      for (int v = 0; v < columns; ++v) {
        Value &entry = next[r * columns + v];
        entry = multiplyAdd(b, hasFma, factor, row[v], entry);
      }
    }
    return next;
  });
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < columns; ++v)
      LLVM::StoreOp::create(b, sums[r * columns + v],
                            sum.at(i, r, j, v * lanes), bytes);
}

void DotLowering::multiply(const Buffer &left, const Buffer &right,
                           const Buffer &sum) {
  Type element = sum.element, i64 = b.getI64Type();
  int rank = sum.shape.size();
  int64_t M = sum.shape[rank - 2], N = sum.shape[rank - 1];
  int64_t K = left.shape[rank - 1], bytes = bytesOf(element);
  Blocking block(context.target.vectorBytes, bytes, M, N);
  ArrayRef<int64_t> batches = ArrayRef(sum.shape).drop_back(2);
  auto multiplyBatch = [&](const Coords &batch) {
    Value number = b.constant(i64, 0);
    for (auto [i, coord] : llvm::enumerate(batch)) {
      number =
          b.createOrFold<arith::MulIOp>(number, b.constant(i64, batches[i]));
      number = b.createOrFold<arith::AddIOp>(number, coord.base);
    }
    auto matrix = [&](const Buffer &buffer, int64_t rows,
                      int64_t columns) -> Matrix {
      Value base = buffer.ptr;
      if (!batches.empty())
        base = b.offset(base,
                        b.createOrFold<arith::MulIOp>(
                            number, b.constant(i64, rows * columns * bytes)));
      return {b, base, element, columns};
    };
    Matrix a = matrix(left, M, K), c = matrix(right, K, N);
    Matrix result = matrix(sum, M, N);
    b.forLoop(0, N, block.lanes * block.columns, [&](Value j) {
      b.forLoop(0, M, block.rows, [&](Value i) {
        multiplyBlock(b, context.target.hasFma, block, K, a, c, result, i, j);
      });
    });
  };
  tiles.forTile(batches, std::max(0, rank - 3), multiplyBatch, /*maxLanes=*/1);
}

void DotLowering::convertTo(Operation *op, Value tensor, const Buffer &target) {
  Type from = getElementTypeOrSelf(tensor.getType()), to = target.element;
  tiles.forTensor(tensor, [&](const Coords &coords) {
    Lanes lanes = evaluator.eval(tensor, coords);
    Value value = b.compact(lanes);
    if (isa<FloatType>(from))
      value = conversion.convert(op, value, from, to);
    else if (from != to)
      value = arith::ExtSIOp::create(b, like(value, to), value);
    scratch.store(target, coords,
                  lanes.isUniform() ? Lanes::uniform(value)
                                    : Lanes::vector(value));
  });
}

void DotLowering::convertSum(Operation *op, const Buffer &sum,
                             const Buffer &result) {
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  tiles.forTile(sum.shape, sum.shape.size() - 1, [&](const Coords &coords) {
    Value value = b.toVector(scratch.load(sum, coords));
    value = conversion.convert(op, value, sum.element, to);
    scratch.store(result, coords, Lanes::of(value));
  });
}

/// Returns an operand in scratch memory, with elements of the type `work`.
Buffer DotLowering::operand(Operation *op, Value value, Type work) {
  auto type = cast<RankedTensorType>(value.getType());
  auto it = context.buffers.find(value);
  if (it != context.buffers.end() && it->second.element == work &&
      type.getElementType() == work)
    return it->second;
  Buffer buffer = scratch.allocate(work, type.getShape());
  convertTo(op, value, buffer);
  return buffer;
}

/// Returns whether all elements are known to be 0; for floats, +0.
static bool isZero(Value tensor) {
  if (auto splat = tensor.getDefiningOp<triton::SplatOp>())
    tensor = splat.getSrc();
  return matchPattern(tensor, m_Zero()) ||
         matchPattern(tensor, m_PosZeroFloat());
}

/// Multiplies the operands with `unit`. `startOfSum` returns the buffer of the
/// sum. It contains the addend, unless `startsAtZero` is set. The function is
/// called after the operands are read, because it may write to their memory.
void DotLowering::lowerPacked(triton::DotOp op, const DotUnit &unit,
                              llvm::function_ref<Buffer()> startOfSum,
                              bool startsAtZero) {
  DotPacking packing(*this, conversion, unit, op);
  Value first = b.constant(b.getI64Type(), 0);
  std::optional<PackedRows> left = packing.packedLeft();
  if (!left) {
    left = packing.allocateLeft();
    packing.packLeft(*left, first);
  }
  PackedPanels right = packing.allocateRight();
  packing.packRight(right, first);
  Buffer sum = startOfSum();
  int64_t words = shapeOf(op).K / unit.elementsOfWord();
  multiplyPacked(op, unit, sum, startsAtZero, *left, right,
                 b.constant(b.getI64Type(), words));
}

void DotLowering::lower(triton::DotOp op) {
  if (auto it = waiting.find(op); it != waiting.end())
    return lowerWaiting(op, *it->second);
  RankedTensorType type = op.getType();
  Type result = type.getElementType();
  std::optional<DotUnit> unit = chooseDotUnit(context.target, op);
  // Narrow floats are multiplied and summed as f32, f64 and i32 in their own
  // type.
  Type work = result;
  if (unit)
    work = unit->sum();
  else if (isa<FloatType>(result) && !result.isF64())
    work = b.getF32Type();
  // A right matrix of floats in scratch memory is multiplied as it is.
  if (unit && unit->isFloats())
    if (auto it = context.buffers.find(op.getB());
        it != context.buffers.end() && it->second.element == work)
      unit.reset();
  bool startsAtZero = unit && isZero(op.getC());
  Buffer sum;
  auto startOfSum = [&] {
    sum = work == result ? tiles.allocateFor(op.getResult())
                         : scratch.allocate(work, type.getShape());
    auto start = context.buffers.find(op.getC());
    if (!startsAtZero &&
        (start == context.buffers.end() || start->second.ptr != sum.ptr))
      convertTo(op, op.getC(), sum);
    return sum;
  };
  if (unit) {
    lowerPacked(op, *unit, startOfSum, startsAtZero);
  } else {
    Buffer left = operand(op, op.getA(), work);
    Buffer right = operand(op, op.getB(), work);
    multiply(left, right, startOfSum());
  }
  if (work != result) {
    Buffer narrow = tiles.allocateFor(op.getResult());
    convertSum(op, sum, narrow);
    sum = narrow;
  }
  context.buffers[op.getResult()] = sum;
}
