// SPDX-License-Identifier: Apache-2.0
//
// Merges looks that differ in scalars only.

#ifndef TRITON_EXT_SANITIZER_MERGE_H
#define TRITON_EXT_SANITIZER_MERGE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::sanitizer {

/// Marks a branch as a look that may be merged with others. Looks of one kind
/// keep their order if `isOrdered`.
void markLook(scf::IfOp look, StringRef kind, bool isOrdered);

/// Merges marked looks of a block that have only pure operations and other
/// looks between them, and whose code differs only in constants, in scalars
/// from outside, in launch words, and in what `probe.failures` says. A loop
/// over them then chooses these, so the code is compiled once.
void mergeLooks(triton::FuncOp kernel);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_MERGE_H
