// SPDX-License-Identifier: Apache-2.0
//
// The report that is printed if the process dies while a kernel is compiled.
// Everything that the signal handler reads is in static memory, ready to be
// written.

#ifndef TRITON_EXT_CRASH_H
#define TRITON_EXT_CRASH_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton_ext {

/// A placeholder in a command for the name of a file. No other part of a
/// command contains it.
inline constexpr char filePlaceholder = '\1';

/// Records that on this thread, until `leavePass`, the compilation `slot` runs
/// `pass`, and that `command` runs the pass again on a file with `ir`. `ir`
/// must live until then; if it is null, no command is printed. An invalid slot,
/// such as -1, is ignored.
void enterPass(int slot, llvm::StringRef pass, llvm::StringRef command,
               llvm::StringRef ir);
void leavePass(int slot);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_CRASH_H
