// SPDX-License-Identifier: Apache-2.0
//
// Finds where the masked-off lanes of a load go. Analyses; changes nothing.

#ifndef TRITON_EXT_INTENSITY_UNFILLED_H
#define TRITON_EXT_INTENSITY_UNFILLED_H

#include "triton/Dialect/Triton/IR/Dialect.h"

#include <set>

namespace mlir::triton_ext::intensity {

/// Returns the dimensions of a masked load without `other` along which its
/// lanes are combined, by a reduction, a scan or a matrix product, or stored
/// without a mask. The masked-off lanes have unknown values, which become part
/// of the result. A `select` on the way ends the search.
std::set<int64_t> unfilled(triton::LoadOp load);

} // namespace mlir::triton_ext::intensity

#endif // TRITON_EXT_INTENSITY_UNFILLED_H
