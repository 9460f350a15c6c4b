// SPDX-License-Identifier: Apache-2.0
//
// The size of the grid on a GPU of AMD, without the library of its compiler.

#ifndef TRITON_EXT_SETTLE_REGIONS_GRIDOFAMD_H
#define TRITON_EXT_SETTLE_REGIONS_GRIDOFAMD_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton_ext::probe {

/// Defines the function that tells the size of the grid, if the module is for
/// AMD and has scratch memory, whose address depends on it. Otherwise Triton
/// links a library for it, which takes a third of the time to compile a small
/// kernel.
void defineGridOfAmd(ModuleOp module);

} // namespace mlir::triton_ext::probe

#endif // TRITON_EXT_SETTLE_REGIONS_GRIDOFAMD_H
