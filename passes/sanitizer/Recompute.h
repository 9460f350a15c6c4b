// SPDX-License-Identifier: Apache-2.0
//
// Keeps what only rare code needs out of registers.

#ifndef TRITON_EXT_SANITIZER_RECOMPUTE_H
#define TRITON_EXT_SANITIZER_RECOMPUTE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::sanitizer {

/// Computes the scalars that a rare branch of a kernel for NVIDIA uses again in
/// the branch, from the kernel's arguments, which are in constant memory. A
/// loop before the branch would have to keep them in registers: those of a
/// matrix product with two tiles are 50, with which only one program fits on a
/// processor of an H100.
void recomputeScalars(scf::IfOp rare, triton::FuncOp kernel);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_RECOMPUTE_H
