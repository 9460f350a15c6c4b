// SPDX-License-Identifier: Apache-2.0
//
// Values of type index as i64, for targets whose tensors hold no index.

#ifndef TRITON_EXT_LOWER_STRUCTURED_INDEXVALUES_H
#define TRITON_EXT_LOWER_STRUCTURED_INDEXVALUES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::triton_ext::lower_structured {

/// Returns a number or an index as an i64. Sums, differences, products, minima,
/// maxima and selects of indices are made anew on i64, so that the index itself
/// is left without a use.
Value toI64(OpFoldResult value, OpBuilder &builder, Location loc);

} // namespace mlir::triton_ext::lower_structured

#endif // TRITON_EXT_LOWER_STRUCTURED_INDEXVALUES_H
