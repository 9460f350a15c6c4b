// SPDX-License-Identifier: Apache-2.0
//
// Masks as conjunctions of conditions, each with the dimensions along which it
// varies, and which conditions exclude each other.

#ifndef TRITON_EXT_SANITIZER_CONDITION_H
#define TRITON_EXT_SANITIZER_CONDITION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace mlir::triton_ext::sanitizer {

/// For each dimension of one tensor, the dimension of another tensor with the
/// same positions; -1 if there is none, and for dimensions of one element.
using DimMap = SmallVector<int, 4>;

/// A value that was splat, expanded, transposed or broadcast to the shape of a
/// tile. `base` is the value before this: the element at (i0, i1, ...) of the
/// tile is the element at (i[dims[0]], i[dims[1]], ...) of `base`.
struct View {
  Value base;
  DimMap dims;

  /// Returns the view of all of `value` in a tile of its own shape.
  static View of(Value value);
  bool operator==(const View &other) const = default;
};

/// Returns the same view with another base: the value from which only changes
/// of shape make the base of `view`.
View stripped(View view);

/// A condition of each lane of a tile, or its negation.
struct Condition {
  View bit; ///< an i1; has no base if nothing in the kernel computes it
  bool isTrue = true;
  /// For a comparison of integers, `lhs predicate rhs` holds.
  std::optional<arith::CmpIPredicate> predicate;
  View lhs, rhs;

  bool operator==(const Condition &other) const = default;
};

/// A conjunction.
using Conditions = SmallVector<Condition, 0>;

/// Returns conditions that hold in a lane if `mask`, of the tile's shape or a
/// scalar, equals `isTrue` in this lane. If `isExact` is set to true, they hold
/// in these lanes only. Returns nullopt if there is no such lane.
std::optional<Conditions> conditionsOf(Value mask, bool isTrue, bool &isExact);

/// Returns the condition `lhs predicate rhs`, for values of the tile's shape or
/// scalars.
Condition comparison(arith::CmpIPredicate predicate, Value lhs, Value rhs);
Condition negated(Condition condition);

/// Returns whether the two conditions cannot hold in the same lane.
bool excludes(const Condition &a, const Condition &b);
/// Returns whether the conditions cannot all hold in the same lane.
bool isContradictory(ArrayRef<Condition> conditions);

/// Returns `condition` of a tile as a condition of another tile; `dims` maps
/// each dimension of the first tile to one of the second. Returns nullopt if
/// the condition varies along a dimension that the second tile does not have.
std::optional<Condition> translated(const Condition &condition,
                                    ArrayRef<int> dims);

/// Returns whether an operand of the condition is computed inside of `op`.
bool isMadeIn(const Condition &condition, Operation *op);

/// Returns the condition as a tensor of i1 of the tile's shape, or as i1 if the
/// shape is empty.
Value materialize(ImplicitLocOpBuilder &b, const Condition &condition,
                  ArrayRef<int64_t> shape);

/// Returns the values of a view for a tile of this shape, with one element
/// along each dimension along which they do not vary. Returns a scalar if they
/// vary along none.
Value materializeCompact(ImplicitLocOpBuilder &b, const View &view,
                         ArrayRef<int64_t> shape);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_CONDITION_H
