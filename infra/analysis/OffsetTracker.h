// SPDX-License-Identifier: Apache-2.0
//
// Tensors of integers that grow evenly along each dimension, by how they were
// computed.

#ifndef TRITON_EXT_ANALYSIS_OFFSETTRACKER_H
#define TRITON_EXT_ANALYSIS_OFFSETTRACKER_H

#include "analysis/IndexMath.h"

namespace mlir::triton_ext::analysis {

/// The element at (i0, i1, ...) is offset + strides[0] * i0 + strides[1] * i1
/// and so on. Strides of dimensions of one element are 0.
struct Offsets {
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
};

/// Tracks a tensor of integers of 32 bits or more, or a scalar: through
/// constants, ranges, splats, sums, differences, products and shifts with what
/// is one value, changes of shape, casts that keep the values, selects and
/// branches that depend on one bit. Like Triton's own analyses it takes it that
/// sums and products of offsets do not wrap.
std::optional<Offsets> trackOffsets(Value value, IndexMath &math);

//===----------------------------------------------------------------------===//
// What tracking pointers is made of, too
//===----------------------------------------------------------------------===//

/// The strides behind a change of shape; none where they are not even.
std::optional<SmallVector<OpFoldResult>>
reshapeStrides(Operation *op, ArrayRef<OpFoldResult> strides, IndexMath &math);

/// A value that is one of two.
struct Choice {
  Value condition, yes, no;
};

/// Of a select or an scf.if, where the condition is one bit that can be used.
std::optional<Choice> getChoice(Value value, IndexMath &math);

/// The offsets of such a value.
Offsets chooseOffsets(Value condition, const Offsets &yes, const Offsets &no,
                      IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_OFFSETTRACKER_H
