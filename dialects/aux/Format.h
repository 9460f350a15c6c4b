// SPDX-License-Identifier: Apache-2.0
//
// The check that verifiers of prints apply to their formats.

#ifndef TRITON_EXT_AUX_FORMAT_H
#define TRITON_EXT_AUX_FORMAT_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::aux {

/// Emits an error at `op` and fails if the format cannot print a value of this
/// type. A null type means that there is no value to print.
LogicalResult checkFormat(Operation *op, Type type,
                          std::optional<StringRef> format);

} // namespace mlir::triton_ext::aux

#endif // TRITON_EXT_AUX_FORMAT_H
