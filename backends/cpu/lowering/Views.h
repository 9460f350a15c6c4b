// SPDX-License-Identifier: Apache-2.0
//
// A view says at which coordinates a tensor is evaluated: a root evaluates its
// operands at its own coordinates, and each operation that rearranges evaluates
// its operand at other coordinates. Two tensors, or two uses of one, have the
// same view if and only if their coordinates are computed in the same way. This
// decides whether a load may move, so views are compared by their contents,
// never by a hash alone.

#ifndef TRITON_EXT_CPU_VIEWS_H
#define TRITON_EXT_CPU_VIEWS_H

#include "mlir/IR/Operation.h"

#include <unordered_map>

namespace mlir::triton_ext::cpu {

/// How an operation computes the coordinates of its operand from its own.
struct Rearrangement {
  enum class Kind {
    None,
    Broadcast,
    ExpandDims,
    Trans,
    Reshape,
    Reduce,
    Exchange,
    Own
  };
  Kind kind = Kind::None;
  /// For Broadcast and Reshape: the type of the result.
  Type type = {};
  /// For ExpandDims, Reduce and Exchange: the axis. For Trans: the order.
  SmallVector<int32_t, 4> dims = {};
  /// For Own, a rearrangement that only this operation has: the operation.
  Operation *op = nullptr;
  /// For Reduce: the coordinate along the axis.
  int64_t element = 0;

  bool operator==(const Rearrangement &) const = default;
};

/// The number of a view in the table. Equal views have equal numbers, and only
/// these.
using ViewId = unsigned;

/// All views of a function.
class Views {
public:
  /// Returns the view in which `root` evaluates its operands. Operands with
  /// different `slot`s are needed at unrelated coordinates; slot 0 stands for
  /// the coordinates at which the root writes.
  ViewId ofRoot(Operation *root, unsigned slot = 0);

  /// Returns the view of the operand of an operation that rearranges; `outer`
  /// is the view of its result.
  ViewId rearranged(ViewId outer, const Rearrangement &by);

  /// Returns whether `view` is that in which `root` writes its result.
  bool isRoot(ViewId view, Operation *root) const;

private:
  struct View {
    /// In the view of a root: the root and its slot.
    Operation *root = nullptr;
    unsigned slot = 0;
    /// In every other view: the view of the operation's result, and how the
    /// operation rearranges.
    ViewId outer = 0;
    Rearrangement by = {};

    bool operator==(const View &) const = default;
  };
  /// Chooses a bucket; views in the same bucket are compared by operator==.
  struct Hash {
    size_t operator()(const View &view) const;
  };
  ViewId intern(const View &view);

  std::unordered_map<View, ViewId, Hash> ids;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_VIEWS_H
