// SPDX-License-Identifier: Apache-2.0
//
// Whether a tile of bits has one that is true, from scalars.

#ifndef TRITON_EXT_SANITIZER_OFFLANES_H
#define TRITON_EXT_SANITIZER_OFFLANES_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::sanitizer {

/// Returns an i1 that is false only if no element of `bits` is true where
/// `mask` is, which may be null. Where bits are comparisons of affine tiles, it
/// is computed from their extremes. It may be true without need, which costs a
/// look at the lanes.
Value mayHaveTrue(ImplicitLocOpBuilder &b, Value bits, Value mask,
                  triton::FuncOp kernel);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_OFFLANES_H
