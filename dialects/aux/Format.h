// SPDX-License-Identifier: Apache-2.0
//
// What makes the format of a print valid.

#ifndef TRITON_EXT_AUX_FORMAT_H
#define TRITON_EXT_AUX_FORMAT_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::aux {

/// Fails with an error at `op` if a value of this type, or nothing where it is
/// null, cannot be printed in the format.
LogicalResult checkFormat(Operation *op, Type type,
                          std::optional<StringRef> format);

} // namespace mlir::triton_ext::aux

#endif // TRITON_EXT_AUX_FORMAT_H
