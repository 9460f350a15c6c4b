// SPDX-License-Identifier: Apache-2.0
//
// Offsets of the elements of a tensor, as numbers for each dimension, and what
// arithmetic on such tensors does to them.

#ifndef TRITON_EXT_ANALYSIS_OFFSETMATH_H
#define TRITON_EXT_ANALYSIS_OFFSETMATH_H

#include "analysis/Dimensions.h"
#include "analysis/IndexMath.h"

namespace mlir::triton_ext::analysis {

/// An offset that wraps around along one dimension: at index i of `dim`, it is
/// the remainder of offset + stride * i by `modulus`. As in C, the remainder
/// has the sign of the dividend. A modulus of 0 means that nothing wraps
/// around.
struct WrappedOffset {
  unsigned dim;
  OpFoldResult offset, stride, modulus;
};

/// The element at (i0, i1, ...) is offset + strides[0] * i0 + strides[1] * i1
/// and so on, plus each of the offsets that wrap around. Strides of dimensions
/// of one element are 0.
struct Offsets {
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
  /// Several offsets may wrap around along the same dimension.
  SmallVector<WrappedOffset> wrapped = {};

  bool wrapsAround() const { return !wrapped.empty(); }
  /// Whether all elements are `offset`.
  bool isUniform() const {
    return !wrapsAround() && llvm::all_of(strides, isZero);
  }
};

Offsets addOffsets(const Offsets &a, const Offsets &b, IndexMath &math);
Offsets subtractOffsets(const Offsets &a, const Offsets &b, IndexMath &math);
Offsets scaleOffsets(const Offsets &offsets, OpFoldResult factor,
                     IndexMath &math);

/// Returns the remainders of the offsets of a tensor of this shape. Returns
/// nullopt if they wrap around along several dimensions, or if the dividend may
/// wrap in its type: a dividend with a large or unknown factor is taken for a
/// hash, which wraps on purpose, unless `isExact` says that it does not wrap.
std::optional<Offsets> wrapOffsets(const Offsets &offsets, OpFoldResult modulus,
                                   ArrayRef<int64_t> shape, bool isExact,
                                   IndexMath &math);

/// Returns the part of the offsets along dimension `dim` as one term, whose
/// modulus is 0 if it does not wrap around; nullopt if it takes several terms.
std::optional<WrappedOffset> getTermAlong(const Offsets &offsets, unsigned dim,
                                          IndexMath &math);

/// Returns the offsets of a choice between values with the offsets `yes` and
/// `no`; nullopt if several offsets have to be chosen along one dimension.
std::optional<Offsets> chooseOffsets(Value condition, const Offsets &yes,
                                     const Offsets &no, IndexMath &math);

/// Returns the strides after a change of shape; nullopt if the result is not
/// strided.
std::optional<SmallVector<OpFoldResult>>
reshapeStrides(Operation *op, ArrayRef<OpFoldResult> strides, IndexMath &math);

/// Returns the dimension of the result of a change of shape that the dimension
/// `dim` of the operand becomes; nullopt if it is not one dimension.
std::optional<unsigned> reshapeDimension(Operation *op, unsigned dim);

/// Returns the offsets after a change of shape; nullopt if they cannot be
/// described any more.
std::optional<Offsets> reshapeOffsets(Operation *op, const Offsets &offsets,
                                      IndexMath &math);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_OFFSETMATH_H
