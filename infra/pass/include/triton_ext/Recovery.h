// SPDX-License-Identifier: Apache-2.0
//
// Runs code of LLVM that may crash or end the process.

#ifndef TRITON_EXT_RECOVERY_H
#define TRITON_EXT_RECOVERY_H

#include "triton_ext/PassInfra.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace mlir::triton_ext {

/// Runs `work`. Returns false if it crashed, failed an assertion or reported a
/// fatal error of LLVM, whose text goes to `reason`. In this case, the
/// destructors of the objects on the stack of `work` have not run. Several
/// threads may call this function at the same time.
TRITON_EXT_API bool runRecovering(llvm::function_ref<void()> work,
                                  std::string &reason);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_RECOVERY_H
