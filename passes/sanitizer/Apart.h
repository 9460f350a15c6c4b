// SPDX-License-Identifier: Apache-2.0
//
// Looks at lanes that have a kernel of their own.

#ifndef TRITON_EXT_SANITIZER_APART_H
#define TRITON_EXT_SANITIZER_APART_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::sanitizer {

/// What becomes of the looks that need nothing but the launch's arguments.
enum class Looks {
  Inline,  ///< they stay in the kernel
  Raise,   ///< the kernel raises the launch's flag in their place
  Host,    ///< the host compares the corners of a launch in their place, and
           ///< looks at shadows are in another kernel
  Shadows, ///< that kernel
  Only,    ///< the kernel has only them, and no effect of its own
};

/// Treats each of the rare branches as `looks` says if it can run in a kernel
/// of its own: if it computes integers from arguments and program ids, and
/// nothing from memory. `branches` are in program order and in no loop. Returns
/// those that stay in the kernel. The flag is raised in the name of `check`.
SmallVector<scf::IfOp> setApart(ArrayRef<scf::IfOp> branches, Looks looks,
                                triton::FuncOp kernel, StringRef check);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_APART_H
