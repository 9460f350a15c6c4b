// SPDX-License-Identifier: Apache-2.0
//
// The passes and dialects inside libtriton, made available to textual pipelines
// and to the parser. This code does not depend on the driver or on extensions.

#ifndef TRITON_EXT_OPT_PASSES_H
#define TRITON_EXT_OPT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext {

/// One pass of libtriton.
struct BuiltinPass {
  /// Group in Triton's `passes` module, e.g. "ttgpuir".
  const char *group;
  std::unique_ptr<Pass> (*create)();
  /// Its function in Python, e.g. "passes.ttgpuir.add_coalesce"; may be empty.
  const char *binding;
};

/// Returns all passes of libtriton, ordered by group.
ArrayRef<BuiltinPass> builtinPasses();

/// Registers all of them, once per process.
void registerBuiltinPasses();

/// Adds every dialect of libtriton, with the interfaces by which its operations
/// are inlined, folded and converted to LLVM.
void registerBuiltinDialects(DialectRegistry &registry);

/// Writes one record for each pass to `os`, for catalogue.py: group, binding,
/// argument and the pipeline text with every option at its default, separated
/// by tabs, and then the pass's help up to a line with a form feed.
void printCatalogue();

} // namespace mlir::triton_ext

#endif // TRITON_EXT_OPT_PASSES_H
