// SPDX-License-Identifier: Apache-2.0
//
// Texts of modules and diagnostics in the records.

#ifndef TRITON_EXT_INSPECT_TEXT_H
#define TRITON_EXT_INSPECT_TEXT_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::triton_ext {

/// Returns the output of `write` as valid UTF-8 for JSON.
std::string toText(function_ref<void(raw_ostream &)> write);

/// Returns the text of a module as Triton's `str(module)` does.
std::string toText(Operation *op);

/// Returns `file:line:column: severity: message`, and each note on a new line.
std::string toText(Diagnostic &diagnostic);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_INSPECT_TEXT_H
