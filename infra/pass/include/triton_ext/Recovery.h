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
/// fatal error of LLVM, whose text `reason` becomes. Then the destructors of
/// what `work` had on its stack have not run. Threads may be here at once.
TRITON_EXT_API bool runRecovering(llvm::function_ref<void()> work,
                                  std::string &reason);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_RECOVERY_H
