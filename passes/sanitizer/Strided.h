// SPDX-License-Identifier: Apache-2.0
//
// Scalars that stand for tensors of integers and of addresses: a base and a
// stride for each dimension. Each is computed right behind the tensor that it
// stands for, so that all later code can use it.

#ifndef TRITON_EXT_SANITIZER_STRIDED_H
#define TRITON_EXT_SANITIZER_STRIDED_H

#include "analysis/IndexMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::triton_ext::sanitizer {

using analysis::IndexMath;

/// The element at (i0, i1, ...) is base + strides[0] * i0 + strides[1] * i1 and
/// so on, in i64, plus a number of its own in [slackLow, slackHigh], which are
/// null for 0. Addresses are in bytes. Example: of `range % n` with a range
/// that is not negative, the slack is [0, n - 1], and all strides are 0.
struct Strided {
  OpFoldResult base;
  SmallVector<OpFoldResult> strides;
  /// i1, or null for always. Where it is false, this says nothing.
  Value valid = {};
  /// Whether the element is that number. Otherwise it is that number modulo
  /// 2^width, as sums of i32 are that wrap around.
  bool isExact = true;
  OpFoldResult slackLow = {}, slackHigh = {};

  bool hasSlack() const { return bool(slackLow); }
  /// Whether all elements are the base.
  bool isUniform() const;
};

/// Returns the sum or the difference of two tensors; keeps whether `a` is
/// exact.
Strided sumOf(const Strided &a, const Strided &b, bool isDifference,
              IndexMath &math);

/// The least and the greatest number of some elements, and null or an i1: where
/// that is false, this says nothing.
struct Extremes {
  OpFoldResult low, high;
  Value valid = {};
};

/// The elements in [low[d], high[d]) in each dimension d.
struct Box {
  SmallVector<OpFoldResult> low, high;
};

/// A place for code behind a value, which is before every original operation
/// that follows, and behind what was inserted there before.
class Places {
public:
  OpBuilder behind(Value value);
  OpBuilder behind(Operation *op);

private:
  DenseMap<Operation *, Operation *> following;
  DenseMap<Block *, Operation *> firsts;
};

class StridedTracker {
public:
  /// Gives the loops of the kernel an i64 for each loop-carried tensor that
  /// only moves: each iteration adds the same number to all of its elements.
  /// This invalidates the results of these loops.
  explicit StridedTracker(triton::FuncOp kernel);

  /// Returns the scalars that stand for a tensor or a scalar; nullopt if none
  /// are found.
  std::optional<Strided> track(Value value);
  /// Completes the loops. Nothing can be tracked behind it.
  void finish();

  /// Returns the least and the greatest of the elements in the box, which is
  /// not empty; of all elements if `box` is null.
  static Extremes extremes(const Strided &strided, ArrayRef<int64_t> shape,
                           const Box *box, IndexMath &math);
  /// Returns `strided` as exact numbers of `width` bits, signed, under a
  /// condition if that is needed.
  static Strided exact(const Strided &strided, ArrayRef<int64_t> shape,
                       unsigned width, IndexMath &math);

  /// A loop-carried tensor with an i64 beside it: its value at the loop's
  /// start, and what has been added to all of its elements since is `now` -
  /// `before`.
  struct Moved {
    Value start;
    OpFoldResult before, now;
  };
  std::optional<Moved> movedFrom(Value value);

  IndexMath mathBehind(OpBuilder &b, Location loc) {
    return IndexMath{b, loc, /*budget=*/1000, b.getI64Type()};
  }

  triton::FuncOp kernel() const { return function; }

  Places places;

private:
  triton::FuncOp function;
  std::optional<Strided> compute(Value value);
  std::optional<Strided> computeArgument(BlockArgument argument);
  std::optional<Strided> computeOp(Operation *op, OpResult result,
                                   IndexMath &math);
  std::optional<Strided> computeInterval(Operation *op, OpResult result,
                                         IndexMath &math);

  struct Carried {
    scf::ForOp loop;
    unsigned index, companion; ///< places among the loop-carried values
  };
  DenseMap<Value, Carried> carried;
  SmallVector<Carried> used;
  DenseMap<Value, std::optional<Strided>> known;
};

/// Returns the bits of an integer or an address; 0 for other types.
unsigned widthOf(Type type);

/// Returns whether `low` <= `value` <= `high`, as an i1, or null for always.
/// What is known of the value before the kernel runs is not compared.
Value isWithin(OpFoldResult value, int64_t low, int64_t high, IndexMath &math);

/// Returns the conjunction of two conditions that may be null, as that may be.
Value both(Value a, Value b, IndexMath &math);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_STRIDED_H
