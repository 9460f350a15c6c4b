// SPDX-License-Identifier: Apache-2.0
//
// The operands of a product in scratch memory, in the order in which a unit
// reads their words. This depends on the size of a vector and of a word only,
// so all units share it.

#ifndef TRITON_EXT_CPU_DOTPACKING_H
#define TRITON_EXT_CPU_DOTPACKING_H

#include "DotInPlace.h"

namespace mlir::triton_ext::cpu {

/// The left operand: a row of words along K for each row of the result.
struct PackedRows {
  Value base;
  /// The bytes from a row, a batch and a part of elements to the next one.
  int64_t rowBytes, batchBytes, partBytes;
  /// How rows are read where they are in memory; null if they never are.
  std::shared_ptr<RowsInPlace> inPlace = {};
};

/// The right operand: for each `lanes` columns of the result, a panel. It has a
/// vector for each word along K.
struct PackedPanels {
  Value base;
  int64_t lanes, panelBytes, batchBytes, partBytes;
};

/// Returns the number of a batch times `bytes`.
Value offsetOfBatch(LaneBuilder &b, ArrayRef<int64_t> batches,
                    ArrayRef<Lanes> batch, int64_t bytes);

/// Returns the elements of vectors of one length in turn: the first of each,
/// then the second of each, and so on.
Value interleave(LaneBuilder &b, ArrayRef<Value> vectors);

/// Packs the operands of a product. `slots` of them lie side by side along K:
/// one for each iteration of a loop whose products are multiplied at once.
class DotPacking : RootParts {
public:
  DotPacking(RootParts parts, FloatConversion &conversion, const DotUnit &unit,
             triton::DotOp op, int64_t slots = 1)
      : RootParts(parts), b(context.b), conversion(conversion), unit(unit),
        op(op), shape(shapeOf(op)), words(shape.K / unit.elementsOfWord()),
        slots(slots) {}

  /// Returns the left operand if scratch memory has it in this order already.
  std::optional<PackedRows> packedLeft();
  PackedRows allocateLeft();
  /// Allocates memory for `blocks` times all slots.
  PackedPanels allocateRight(int64_t blocks = 1);
  /// Returns the panels of a block.
  PackedPanels blockOf(const PackedPanels &panels, Value block) const;
  void packLeft(const PackedRows &rows, Value slot);
  void packRight(const PackedPanels &panels, Value slot);
  /// Writes zeros to the slots from `from` to `to`.
  void clear(const PackedRows &rows, const PackedPanels &panels, Value from,
             Value to);

private:
  /// Returns where a vector of words goes that begins at (`outer`, `inner`).
  using Place = llvm::function_ref<Value(Value outer, Value inner)>;

  /// Matrices of words: for each part of the elements, one for each batch.
  struct Matrices {
    Value base;
    int64_t batchBytes, partBytes;
  };

  Value allocate(int64_t bytes);
  /// Allocates memory for matrices of as many bytes.
  Matrices allocateMatrices(int64_t bytes);
  int64_t numBatches() const;
  bool liesAlongK(Value operand, int dimOfK);
  /// Returns the elements of an operand at coordinates as elements of words:
  /// the first part of each, then the second part of each, and so on.
  SmallVector<Value> evaluate(Value operand, const Coords &at, bool isLeft);
  /// Returns the bf16 whose sum each f32 is. Those of a number that is not zero
  /// have its sign, and none is zero: so the number times infinity, of which
  /// the last part is infinite, is not NaN. A part has the upper eight bits of
  /// what is left. If nothing were left then, it lacks the last bit that is
  /// set, or is half of a power of two. So parts are multiples of half of a
  /// number's last bit, and sums of small integers are exact.
  SmallVector<Value> split(Value rest);
  /// Stores words: each part of their elements into its matrix.
  void store(ArrayRef<Value> parts, const Matrices &target, Value offset);
  /// Returns elements of an operand as elements of words.
  Value narrow(Value value, Type from, bool isLeft);
  /// Writes an operand, lanes along K: `size` rows of words.
  void packAlong(Value operand, bool isLeft, const Matrices &target,
                 int64_t rowBytes);
  /// Writes an operand, lanes along its other dimension. There are at most
  /// `most` of them. `place` gets the word, then the other dimension.
  void packAcross(Value operand, bool isLeft, const Matrices &target, int most,
                  Place place);
  /// Transposes the words of matrices of `rows` by `columns`. `place` gets the
  /// column, then the row.
  void transpose(const Matrices &from, int64_t rows, int64_t columns,
                 bool isLeft, const Matrices &target, Place place);
  int64_t bytesOfWord(bool isLeft) const {
    return isLeft ? leftBytes : unit.wordBytes();
  }
  Value offsetOfPanel(Value column, Value word) const;
  Value offsetOfBatch(ArrayRef<Lanes> batch, int64_t bytes) const {
    return cpu::offsetOfBatch(b, shape.batches, batch, bytes);
  }

  LaneBuilder &b;
  FloatConversion &conversion;
  const DotUnit &unit;
  triton::DotOp op;
  DotShape shape;
  /// The words along K in a slot.
  int64_t words;
  int64_t slots;
};

struct SharedPanel;

/// A product that waits for `slots` iterations of its loop.
struct WaitingProduct {
  DotUnit unit;
  int64_t slots;
  PackedRows left;
  PackedPanels right;
  /// The panels that later programs share, or null. Then `right` has memory for
  /// each block of `slots` iterations that is kept, and for one more.
  const SharedPanel *shared;
  /// The number of the iteration, from 0.
  Value iteration;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_DOTPACKING_H
