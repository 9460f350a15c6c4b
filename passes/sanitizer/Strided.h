// SPDX-License-Identifier: Apache-2.0
//
// Describes tensors of integers and of addresses by scalars: a base and a
// stride for each dimension. The scalars are computed right behind the tensor,
// so that all later code can use them.

#ifndef TRITON_EXT_SANITIZER_STRIDED_H
#define TRITON_EXT_SANITIZER_STRIDED_H

#include "analysis/IndexMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::triton_ext::sanitizer {

using analysis::IndexMath;

/// The element at (i0, i1, ...) is base + strides[0] * i0 + strides[1] * i1 and
/// so on, in i64, plus a number in [slackLow, slackHigh] that may differ in
/// each element. Null slacks stand for 0. Addresses are in bytes. Example: for
/// `range % n` with a non-negative range, the slack is [0, n - 1], and all
/// strides are 0.
struct Strided {
  OpFoldResult base;
  SmallVector<OpFoldResult> strides;
  /// The strides hold only if this i1 is true, or always if it is null.
  Value valid = {};
  /// Whether the element equals that number. Otherwise, it equals it modulo
  /// 2^width, like a sum of i32 that wraps around.
  bool isExact = true;
  OpFoldResult slackLow = {}, slackHigh = {};

  bool hasSlack() const { return bool(slackLow); }
  /// Whether all elements equal the base.
  bool isUniform() const;
};

/// Returns the sum or the difference of two tensors; keeps whether `a` is
/// exact.
Strided sumOf(const Strided &a, const Strided &b, bool isDifference,
              IndexMath &math);

/// The least and the greatest number of some elements. They hold only if the i1
/// is true, or always if it is null.
struct Extremes {
  OpFoldResult low, high;
  Value valid = {};
};

/// The elements in [low[d], high[d]) in each dimension d.
struct Box {
  SmallVector<OpFoldResult> low, high;
};

/// Returns a place for code behind a value: before the next original operation,
/// and behind the code that was inserted there before.
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
  /// This invalidates the results of these loops. Without `movesLoops`, loops
  /// stay as they are, and loop-carried tensors are not tracked.
  explicit StridedTracker(triton::FuncOp kernel, bool movesLoops = true);

  /// Returns the strided form of a tensor or a scalar; nullopt if it cannot be
  /// found.
  std::optional<Strided> track(Value value);
  /// Completes the loops. The tracker cannot be used afterwards.
  void finish();

  /// Returns the least and the greatest of the elements in the box, which is
  /// not empty; of all elements if `box` is null.
  static Extremes extremes(const Strided &strided, ArrayRef<int64_t> shape,
                           const Box *box, IndexMath &math);
  /// Returns `strided` as exact signed numbers of `width` bits, under a
  /// condition if one is needed.
  static Strided exact(const Strided &strided, ArrayRef<int64_t> shape,
                       unsigned width, IndexMath &math);

  /// A loop-carried tensor and the i64 that the loop carries beside it.
  /// `before` is its value at the loop's start, and `now` - `before` is the
  /// amount that has been added to all elements of the tensor since.
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
/// Leaves out a comparison whose result is known at compile time.
Value isWithin(OpFoldResult value, int64_t low, int64_t high, IndexMath &math);

/// Returns the conjunction of two conditions. Null stands for true in the
/// operands and in the result.
Value both(Value a, Value b, IndexMath &math);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_STRIDED_H
