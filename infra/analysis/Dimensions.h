// SPDX-License-Identifier: Apache-2.0
//
// How dimensions of tensors correspond before and after changes of shape.

#ifndef TRITON_EXT_ANALYSIS_DIMENSIONS_H
#define TRITON_EXT_ANALYSIS_DIMENSIONS_H

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton_ext::analysis {

inline ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// Returns, for each dimension of `to` with more than one element, the
/// corresponding dimension of `from`; nullopt if the shapes differ in other
/// dimensions than those of one element.
inline std::optional<SmallVector<std::optional<unsigned>>>
matchDimensions(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<std::optional<unsigned>> result;
  unsigned next = 0;
  auto skip = [&] {
    while (next < from.size() && from[next] == 1)
      ++next;
  };
  for (int64_t size : to) {
    if (size == 1) {
      result.push_back(std::nullopt);
      continue;
    }
    skip();
    if (next == from.size() || from[next] != size)
      return std::nullopt;
    result.push_back(next++);
  }
  skip();
  if (next != from.size())
    return std::nullopt;
  return result;
}

inline bool isZero(OpFoldResult value) { return isConstantIntValue(value, 0); }

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_DIMENSIONS_H
