// SPDX-License-Identifier: Apache-2.0
//
// The operands of a product in scratch memory, in the order in which a unit
// reads their words. This depends on the size of a vector and of a word only,
// so all units share it.

#ifndef TRITON_EXT_CPU_DOTPACKING_H
#define TRITON_EXT_CPU_DOTPACKING_H

#include "DotUnits.h"
#include "Roots.h"

namespace mlir::triton_ext::cpu {

/// The left operand: a row of words along K for each row of the result.
struct PackedRows {
  Value base;
  int64_t rowBytes, batchBytes;
};

/// The right operand: for each `lanes` columns of the result, a panel. It has a
/// vector for each word along K.
struct PackedPanels {
  Value base;
  int64_t lanes, panelBytes, batchBytes;
};

class DotPacking : RootParts {
public:
  DotPacking(RootParts parts, FloatConversion &conversion, const DotUnit &unit,
             triton::DotOp op)
      : RootParts(parts), b(context.b), conversion(conversion), unit(unit),
        op(op), shape(shapeOf(op)), words(shape.K / unit.elementsOfWord()) {}

  PackedRows packLeft();
  PackedPanels packRight();

private:
  /// Returns where a vector of words goes that begins at (`outer`, `inner`).
  using Place = llvm::function_ref<Value(Value outer, Value inner)>;

  Value allocate(int64_t bytes);
  bool liesAlongK(Value operand, int dimOfK);
  /// Returns elements of an operand as elements of words.
  Value narrow(Value value, Type from, bool isLeft);
  /// Writes an operand, lanes along K: `size` rows of words.
  void packAlong(Value operand, bool isLeft, Value target, int64_t rowBytes,
                 int64_t batchBytes);
  /// Writes an operand, lanes along its other dimension. There are at most
  /// `most` of them. `place` gets the word, then the other dimension.
  void packAcross(Value operand, bool isLeft, Value target, int64_t batchBytes,
                  int most, Place place);
  /// Transposes the words of matrices of `rows` by `columns`. `place` gets the
  /// column, then the row.
  void transpose(Value from, int64_t rows, int64_t columns, Value target,
                 int64_t batchBytes, Place place);
  Value offsetOfPanel(Value column, Value word) const;
  Value offsetOfBatch(ArrayRef<Lanes> batch, int64_t bytes) const;

  LaneBuilder &b;
  FloatConversion &conversion;
  const DotUnit &unit;
  triton::DotOp op;
  DotShape shape;
  /// The words along K.
  int64_t words;
};

/// Returns the number of a batch times `bytes`.
Value offsetOfBatch(LaneBuilder &b, ArrayRef<int64_t> batches,
                    ArrayRef<Lanes> batch, int64_t bytes);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_DOTPACKING_H
