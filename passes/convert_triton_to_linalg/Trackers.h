// SPDX-License-Identifier: Apache-2.0
//
// What is known of the elements of a tensor by how it was computed: offsets
// that grow evenly along each dimension, pointers as a base and such offsets,
// masks that are true in a box. Index arithmetic that says so is made at the
// builder's insertion point; what is found only half is left there, unused.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_TRACKERS_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_TRACKERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::triton_ext::convert_triton_to_linalg {

/// Arithmetic on index values and numbers; of numbers it makes numbers.
struct IndexMath {
  OpBuilder &builder;
  Location loc;
  /// How many operations may still be looked at. Where values are used several
  /// times there are as many ways to them as there are steps doubled.
  unsigned budget = 1000;

  /// Whether there was something left of the budget.
  bool spend() { return budget && budget--; }
  OpFoldResult number(int64_t value) { return builder.getIndexAttr(value); }
  OpFoldResult add(OpFoldResult a, OpFoldResult b);
  OpFoldResult sub(OpFoldResult a, OpFoldResult b);
  OpFoldResult mul(OpFoldResult a, OpFoldResult b);
  OpFoldResult min(OpFoldResult a, OpFoldResult b);
  OpFoldResult max(OpFoldResult a, OpFoldResult b);
  /// `whenTrue` if the i1 holds, else 0.
  OpFoldResult orZero(Value condition, OpFoldResult whenTrue);
  /// A signed integer of any width up to 64 bits.
  OpFoldResult fromInteger(Value value);
  Value toValue(OpFoldResult value);
};

/// The element at (i0, i1, ...) is offset + strides[0] * i0 + strides[1] * i1
/// and so on. Strides of dimensions of one element are 0.
struct Offsets {
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
};

/// Tracks a tensor of integers of 32 bits or more, or a scalar. Like Triton's
/// own analyses it takes it that sums and products of offsets do not wrap.
std::optional<Offsets> trackOffsets(Value value, IndexMath &math);

/// Pointers: the scalar `base` and offsets from it, in elements.
struct Pointers {
  Value base;
  Offsets offsets;
};

/// Tracks a tensor of pointers or a pointer.
std::optional<Pointers> trackPointers(Value value, IndexMath &math);

/// A pointer tensor as a scalar base and a sum of tensors of integers, whose
/// elements may be anything; in elements.
struct PointerSum {
  Value base;
  SmallVector<Value> addends;
};

/// Follows addptr to a splat; makes tensors of the shape of `value`.
std::optional<PointerSum> trackPointerSum(Value value, IndexMath &math);

/// The elements from low[d] to below high[d] in each dimension d; none if they
/// are equal in one.
struct Box {
  SmallVector<OpFoldResult> low, high;
};

/// All of a tensor of this shape.
Box wholeOf(ArrayRef<int64_t> shape, IndexMath &math);

/// Whether the box is known to be the whole of a tensor of this shape.
bool isWhole(const Box &box, ArrayRef<int64_t> shape);

/// Tracks a mask that is true inside of a box and false outside of it, through
/// constants, comparisons of offsets that grow by one along one dimension,
/// and, broadcast, splat, expand_dims, reshape and trans.
std::optional<Box> trackMask(Value mask, IndexMath &math);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_TRACKERS_H
