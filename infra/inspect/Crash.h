// SPDX-License-Identifier: Apache-2.0
//
// The report that is printed if the process dies while a kernel is compiled.
// All that the signal handler reads is in static memory and ready to be
// written.

#ifndef TRITON_EXT_CRASH_H
#define TRITON_EXT_CRASH_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton_ext {

/// Stands for the name of a file in a command, and is in none.
inline constexpr char filePlaceholder = '\1';

/// Says that on this thread, until `leavePass`, the compilation `slot` runs
/// `pass`, and that `command`, which names a file with `ir`, runs it again.
/// `ir` has to live until then; without it no command is printed. A slot that
/// is not one, such as -1, is ignored.
void enterPass(int slot, llvm::StringRef pass, llvm::StringRef command,
               llvm::StringRef ir);
void leavePass(int slot);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_CRASH_H
