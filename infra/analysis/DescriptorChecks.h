// SPDX-License-Identifier: Apache-2.0
//
// Refuses tensor descriptors that Triton's verifiers accept and that cannot be
// rewritten. Triton's pass that replaces descriptors by pointers aborts on
// most of them.

#ifndef TRITON_EXT_ANALYSIS_DESCRIPTORCHECKS_H
#define TRITON_EXT_ANALYSIS_DESCRIPTORCHECKS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton_ext::analysis {

/// Emits an error at each operation with such a descriptor, and at each
/// reduction that no atomic can do.
LogicalResult checkDescriptors(ModuleOp module);

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_DESCRIPTORCHECKS_H
