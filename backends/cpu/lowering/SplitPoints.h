// SPDX-License-Identifier: Apache-2.0
//
// Index-set splitting: a mask such as `i < n` is on for all lanes in front of
// one coordinate of a tile, and off for all lanes behind it. So the loop over
// the tile runs without the mask up to there, and need not go on behind it if
// nothing happens there, or the same for all lanes.

#ifndef TRITON_EXT_CPU_SPLITPOINTS_H
#define TRITON_EXT_CPU_SPLITPOINTS_H

#include "Evaluator.h"

namespace mlir::triton_ext::cpu {

/// A tensor of a root's expression. For each of its dimensions, `dims` has the
/// dimension of the root along which its elements are evaluated; -1 stands for
/// the coordinate 0.
struct Operand {
  Value tensor;
  SmallVector<int, 4> dims;
};

/// A comparison `index < bound`, or `index <= bound`. Along the split dimension
/// of the root, the bound is the same everywhere, and the index grows by one
/// from element to element, modulo 2^width. So unless the index wraps around,
/// the comparison is true in front of one coordinate, its *end*, and false from
/// there on.
struct Comparison {
  arith::CmpIOp op;
  Operand index, bound;
  bool isInclusive;
  /// The narrower integers that the index extends. They must not wrap around
  /// either.
  SmallVector<Operand, 1> extended;
};

/// How to split the loop of a root along one dimension.
struct Split {
  int dim = 0;
  /// The comparisons that the loop evaluates. In front of all their ends, they
  /// are true.
  SmallVector<Comparison, 2> evaluated;
  /// The comparisons behind all ends of which the loop may stop.
  SmallVector<Comparison, 2> stopping;
  /// Whether behind the ends of `stopping`, all elements are equal along the
  /// dimension; for a store: whether none is stored.
  bool stops = false;

  explicit operator bool() const { return !evaluated.empty() || stops; }
};

class SplitPoints {
public:
  SplitPoints(LoweringContext &context, Evaluator &evaluator)
      : context(context), b(context.b), evaluator(evaluator) {}

  /// Returns how to split a loop along `dim` that computes `tensors`.
  Split ofTensors(ValueRange tensors, int dim);
  /// Returns how to split the loop of a store along `dim`.
  Split ofStore(triton::StoreOp op, int dim);

  /// The coordinates along the split dimension where the loop changes, as i64.
  struct Ends {
    /// In front of this multiple of `fullStep`, all comparisons of
    /// `Split::evaluated` are true.
    Value full;
    /// `stop`, rounded down to a multiple of `fullStep`; 0 if an index of
    /// `Split::stopping` wraps around.
    Value fullStop;
    /// From this multiple of `stopStep` on, all comparisons of
    /// `Split::stopping` are false; the size of the dimension if the split does
    /// not stop.
    Value stop;
  };
  /// Emits the ends for the row at `coords`, whose coordinate along the split
  /// dimension does not matter, and whose other coordinates are uniform. `size`
  /// is a multiple of both steps, and `fullStep` of `stopStep`.
  Ends ends(const Split &split, const Coords &coords, int64_t size,
            int64_t fullStep, int64_t stopStep);
  /// Returns a copy of `stop` for code that runs only if `stop` is less than
  /// `size`. The facts of the copy say so; they would be wrong of `stop`.
  Value firstOfRest(Value stop, int64_t size, int64_t step);
  /// Makes the current scope of the evaluator take the comparisons of
  /// `Split::evaluated` to be true at `coords`.
  void assume(const Split &split, const Coords &coords);

private:
  Value endOf(const Comparison &comparison, const Coords &coords, int64_t size,
              Value &neverWraps);
  Value scalarAt(const Operand &operand, const Coords &coords);

  LoweringContext &context;
  LaneBuilder &b;
  Evaluator &evaluator;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_SPLITPOINTS_H
