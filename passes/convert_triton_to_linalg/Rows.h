// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores elements that are strided along all dimensions but one, for
// this pass and others.

#ifndef TRITON_EXT_CONVERTTRITONTOLINALG_ROWS_H
#define TRITON_EXT_CONVERTTRITONTOLINALG_ROWS_H

#include "Access.h"
#include "analysis/RowTracker.h"

namespace mlir::triton_ext::convert_triton_to_linalg {

/// Loads the elements, row by row. All others are `other` (a tensor) or,
/// without it, zeros.
TRITON_EXT_EXPORTED Value loadRows(Access &access, const analysis::Rows &rows,
                                   Value other);
/// Stores the elements, row by row.
TRITON_EXT_EXPORTED void storeRows(Access &access, const analysis::Rows &rows,
                                   Value value);

} // namespace mlir::triton_ext::convert_triton_to_linalg

#endif // TRITON_EXT_CONVERTTRITONTOLINALG_ROWS_H
