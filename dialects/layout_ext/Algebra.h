// SPDX-License-Identifier: Apache-2.0
//
// Computes the layouts of `layout_ext` from their parts.

#ifndef TRITON_EXT_LAYOUT_EXT_ALGEBRA_H
#define TRITON_EXT_LAYOUT_EXT_ALGEBRA_H

#include "LayoutExt.h"

namespace mlir::triton_ext::layout_ext {

using ErrorEmitter = function_ref<InFlightDiagnostic()>;

/// Returns the linear layout of a tensor of this shape with this encoding. It
/// is an error if Triton cannot compute it: `layout` has to be a distributed
/// layout of the same rank, and the sizes powers of two.
FailureOr<LinearLayout> evaluate(ErrorEmitter emitError, Attribute layout,
                                 ArrayRef<int64_t> shape);

/// The following return the linear layouts that the attributes of the same
/// names stand for, or an error if there is no such layout.
FailureOr<LinearLayout> product(ErrorEmitter emitError, Attribute first,
                                ArrayRef<int64_t> firstShape, Attribute second,
                                ArrayRef<int64_t> secondShape);
FailureOr<LinearLayout> quotient(ErrorEmitter emitError, Attribute first,
                                 ArrayRef<int64_t> firstShape, Attribute second,
                                 ArrayRef<int64_t> secondShape);
FailureOr<LinearLayout> composed(ErrorEmitter emitError, Attribute first,
                                 ArrayRef<int64_t> firstShape, MapAttr map);

/// Checks that `warpTile` returns a layout for these arguments.
LogicalResult checkWarpTile(ErrorEmitter emitError, ArrayRef<int64_t> tile,
                            unsigned vec, ArrayRef<unsigned> order,
                            ArrayRef<unsigned> warps, unsigned lanes);

/// Returns the linear layout that an attribute `warp_tile` stands for.
LinearLayout warpTile(MLIRContext *context, ArrayRef<int64_t> tile,
                      unsigned vec, ArrayRef<unsigned> order,
                      ArrayRef<unsigned> warps, unsigned lanes);

} // namespace mlir::triton_ext::layout_ext

#endif // TRITON_EXT_LAYOUT_EXT_ALGEBRA_H
