// SPDX-License-Identifier: Apache-2.0
//
// Calls of the CPU backend's runtime, as they are in kernels: prints with the
// name of a function.

#ifndef TRITON_EXT_LOWER_PROBE_CALLS_H
#define TRITON_EXT_LOWER_PROBE_CALLS_H

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::lower_probe {

/// The attribute with the name of the function.
inline constexpr StringLiteral kCall = "triton_ext_cpu.call";

inline constexpr StringLiteral kLookAtBits = "triton_ext_cpu_look_at_bits";
inline constexpr StringLiteral kLookForRaces = "triton_ext_cpu_look_for_races";

/// The place of `how` among the operands of a look; the last operand is the
/// tensor of offsets.
inline constexpr unsigned kHow = 5;

/// Makes one branch of neighbouring ones that do nothing but look at shadows,
/// at the same offsets of several tensors: then these are written once. The
/// runtime sees which of the tensors have a shadow.
void joinLooks(triton::FuncOp kernel);

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_CALLS_H
